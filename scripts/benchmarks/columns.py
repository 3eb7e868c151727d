"""What attaches to a process: the trap floor, hawktrace, and peers."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from benchmarks import peers
from benchmarks.column import Column
from benchmarks.common import Program, Unavailable, Unmeasured, end, find_program, last_line, time_bound
from benchmarks.hawktrace import Abilities, Reporting, probe_arguments

WAYS = ('session', 'multi', 'perf')
# Has no floor of its own: what it saves are traps, so that it is measured against the three of a session.
POINTS = 'points'
TABLES = ('arena', 'hash')
# What the names of the other hawktrace's columns and figures begin with.
AGAINST = 'against '
# All that is counted of the lives of blocks.
LIVES = ('--histograms', '--by', 'thread')
# Blocks that a workload leaves, for tracers that only tell what is left.
KEPT = 10


class Untraced(Column):
    main = True
    ours = True

    def __init__(self):
        super().__init__('untraced', 'untraced', 20)


class AttachedFloor:
    """The bare traps on a process."""

    def __init__(self, bench, column, pid, probes):
        self._column = column
        self._tracer = Program([bench.programs / 'bench_floor_tracer', *column.options, column.way, pid, *probes])
        try:
            if self._tracer.answer() != ['ready']:
                raise Unmeasured('bench_floor_tracer does not get ready')
        except BaseException:
            self._tracer.__exit__(Unmeasured, None, None)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._tracer.__exit__(*exception)

    def finish(self, _expected, is_minimum=False, target_ended=False):
        self._tracer.process.stdin.close()
        hit, *depth = self._tracer.answer()
        if hit != 'hit':
            raise Unmeasured('the probes of the trap floor were not hit')
        if depth[0] < self._column.least_depth:
            raise Unmeasured(f'the deepest stack that was walked has {depth[0]:.0f} frames')
        self._tracer.finish()


class Floor(Column):
    attaches = True
    ours = True
    options = ()
    least_depth = 0

    def __init__(self, way):
        super().__init__(f'floor {way}', f'floor, {way}', 2800)  # as hawktrace, so that sizes are the same
        self.way = way
        self.main = way == WAYS[0]

    def attach(self, bench, pid, _live, subject):
        return AttachedFloor(bench, self, pid, bench.probes(subject, pid))


class StackId(Floor):
    """The traps, and the kernel's own stack walk at each return; nothing else. Less than any tracer does that relies on
    bpf_get_stackid: it knows neither sizes nor what is live."""
    options = ('--stackid',)

    def __init__(self, way, least_depth):
        super().__init__(way)
        self.key = f'stackid {way}'
        self.title = f'traps and bpf_get_stackid alone, {way}'
        self.floor = f'floor {way}'
        self.least_depth = least_depth

    def cost_at(self, frames):
        return self.cost_ns + 80 * frames

    def takes(self, row):
        return row.startswith('malloc ')


class AttachedHawktrace(Reporting):
    def __init__(self, bench, column, pid, live, cgroup=None):
        options = ['--attach-via', column.way, '--unwind', column.unwind, *column.options, *column.table_options(bench, live)]
        super().__init__(bench, pid, *options, cgroup=cgroup, program=column.program)
        self._wanted = {'attach_via': column.way, 'live_table': column.table, 'unwind': column.unwind}

    def finish(self, expected, is_minimum=False, target_ended=False):
        report = super().finish(expected, is_minimum, target_ended)
        for name, wanted in self._wanted.items():
            if report['trace'].get(name, wanted) != wanted:
                raise Unmeasured(f'hawktrace used {name} {report["trace"][name]} in place of {wanted}')
        return report


class Traced(Column):
    """hawktrace itself."""
    attaches = True
    ours = True
    unwind = 'auto'
    options = ()
    program = None  # than the one that is measured

    def __init__(self, way, table, abilities):
        super().__init__(f'hawktrace {way} {table}', f'hawktrace, {way}, {table}', 2800)
        self.way = way
        self.table = table
        self.floor = f'floor {WAYS[0] if way == POINTS else way}'
        self.main = way in (WAYS[0], POINTS)
        self._has_choice = abilities.knows('--live-table')
        if not self._has_choice and table != 'hash':
            self.why_not = f'{abilities.version} has no --live-table'
        if way == POINTS and POINTS not in abilities.help:
            self.why_not = f'{abilities.version} has no --attach-via {POINTS}'

    def table_options(self, bench, live):
        """What makes this table, with room for `live` blocks where that is not the default."""
        options = ['--live-table', self.table] if self._has_choice else []
        if live > 500_000 and self.table == 'hash' and bench.abilities.knows('--max-blocks'):
            options += ['--max-blocks', str(min(live + live // 4, 1 << 26))]
        return options

    def attach(self, bench, pid, live, _subject):
        return AttachedHawktrace(bench, self, pid, live)


class TracedByOther(Traced):
    """Another hawktrace: an earlier one, or another build."""

    def __init__(self, way, table, program):
        abilities = Abilities(program)
        super().__init__(way, table, abilities)
        self.program = program
        self.key = f'{AGAINST}{way} {table}'
        self.title = f'the other {abilities.version}, {way}, {table}'


class TracedByFramePointers(Traced):
    """By frame pointers only, without tables."""
    unwind = 'fp'

    def __init__(self, way, table, abilities):
        super().__init__(way, table, abilities)
        self.key += ' fp'
        self.title += ', --unwind fp'

    def takes(self, row):
        return row.startswith('malloc ')


class TracedWithLives(Traced):
    """As it counts all that it can of the lives of blocks."""

    def __init__(self, way, table, abilities):
        super().__init__(way, table, abilities)
        self.key += ' lives'
        self.title += f', {" ".join(LIVES)}'
        if not all(abilities.knows(option) for option in LIVES if option.startswith('--')):
            self.why_not = f'{abilities.version} does not count the lives of blocks'

    def table_options(self, bench, live):
        return [*super().table_options(bench, live), *LIVES]

    def takes(self, row):
        return row.startswith('malloc ')


class TracedWithMappings(Traced):
    """What is mapped beside the heap is followed as well."""
    options = ('--mappings',)

    def __init__(self, way, table, abilities):
        super().__init__(way, table, abilities)
        self.key += ' mappings'
        self.title += ', --mappings'
        self.main = False
        if not abilities.knows('--mappings'):
            self.why_not = f'{abilities.version} has no --mappings'

    def takes(self, row):
        return row in ('malloc 4', 'mapping')


# -------------------------------------------------------------------------------------------------- peers that attach

class AttachedPeer:
    """Another project's tracer on a process; ready once it has printed `sign`."""

    def __init__(self, name, command, sign, environment=None, refusal=Unavailable):
        self._output = tempfile.TemporaryFile('w+', errors='replace')
        self._name = name
        self._refusal = refusal
        self._process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=self._output,
                                         stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})})
        try:
            self._wait_for(sign)
        except BaseException:
            self.__exit__()
            raise

    def _wait_for(self, sign):
        while sign not in self.text():
            if self._process.poll() is not None:
                raise self._refusal(f'{self._name} does not start: {self._complaint()}')
            time_bound.left()
            time.sleep(0.05)

    def _complaint(self):
        lines = [line for line in self.text().splitlines() if re.search('unable|cannot|error|fail', line, re.I)]
        return lines[0].strip() if lines else last_line(self.text())

    def text(self):
        self._output.seek(0)
        return self._output.read()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self._process.poll() is None:
            self._process.kill()
            end(self._process)
        self._output.close()

    def stop(self):
        """Ctrl-C; returns all it printed."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGINT)
        try:
            # Long enough to read a million entries one by one.
            self._process.wait(min(30, time_bound.left()))
        except subprocess.TimeoutExpired as error:
            raise Unmeasured(f'{self._name} does not end') from error
        return self.text()


class AttachedBpftrace(AttachedPeer):
    def __init__(self, bench, program, pid, live, subject):
        script = pathlib.Path(__file__).with_name('memleak.bt').read_text(encoding='utf-8')
        library = bench.library(subject, pid)
        self._script = tempfile.NamedTemporaryFile('w', suffix='.bt')
        self._script.write(script.replace('LIBRARY', library).replace('PID', str(pid)))
        self._script.flush()
        keys = 1 << 20
        while keys < live * 5 // 4:
            keys *= 2
        super().__init__('bpftrace', [program, '-B', 'line', self._script.name], 'traced from here on',
                         {'BPFTRACE_MAP_KEYS_MAX': str(keys), 'BPFTRACE_NO_CPP_DEMANGLE': '1'})

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._script.close()

    def finish(self, expected, is_minimum=False, target_ended=False):
        counts = re.findall(r'@allocations: (\d+)', self.stop())
        if not counts or int(counts[0]) < expected:
            raise Unmeasured(f'bpftrace saw {counts[0] if counts else "none"} of {expected:,.0f} allocations')


class Bpftrace(Column):
    attaches = True

    def __init__(self):
        super().__init__('bpftrace', 'bpftrace', 14000)
        self._program = find_program('bpftrace')
        if not self._program:
            self.why_not = 'bpftrace is not installed'

    def attach(self, bench, pid, live, subject):
        return AttachedBpftrace(bench, self._program, pid, live, subject)


class AttachedMemleak(AttachedPeer):
    def __init__(self, bench, name, command, pid, subject):
        # Its names of libraries are short ones. Blocks of any age: those of a millisecond and more.
        library = pathlib.Path(bench.library(subject, pid)).name
        # Where it works with libc, it may still refuse another library.
        super().__init__(name, [*command, '-p', pid, '-O', library, '-o', '1', '3600'], 'Ctrl+C to quit',
                         refusal=Unavailable if library.startswith('libc.') else Unmeasured)

    def finish(self, expected, is_minimum=False, target_ended=False):
        # It tells what is left, not what it saw; and only what is older than its limit.
        time.sleep(0.02)
        left = [int(count) for count in re.findall(r'bytes in (\d+) allocations from stack', self.stop())]
        if sum(left) < (1 if is_minimum else KEPT):
            raise Unmeasured(f'memleak shows {sum(left)} blocks that are left')


class Memleak(Column):
    """memleak of libbpf-tools, or the one of bcc."""
    attaches = True
    most_live = 900_000  # its table holds a million

    def __init__(self, key, program, missing):
        super().__init__(key, key, 14000)
        # Line by line, so that it can be seen when it is ready.
        self._command = ['stdbuf', '-oL', str(program)] if program else None
        if not program:
            self.why_not = missing

    def attach(self, bench, pid, live, subject):
        return AttachedMemleak(bench, self.key, self._command, pid, subject)


def all_columns(abilities, memleak=None, against=None):
    """In the order in which they are measured: each hawktrace beside its floor."""
    columns = [Untraced()]
    for way in WAYS:
        columns += [Floor(way), *(Traced(way, table, abilities) for table in TABLES)]
        if way == WAYS[0]:
            columns += [TracedByOther(way, table, against) for table in TABLES if against]
            columns += [Traced(POINTS, table, abilities) for table in TABLES]
            columns += [TracedWithMappings(by, TABLES[0], abilities) for by in (way, POINTS)]
            columns += [TracedWithLives(way, TABLES[0], abilities), TracedByFramePointers(way, TABLES[0], abilities),
                        StackId(way, least_depth=120)]
    columns += [Bpftrace(),
                Memleak('memleak (libbpf-tools)', memleak or find_program('memleak', 'bpf-memleak'),
                        'the installed libbpf-tools has no memleak, or is not installed'),
                Memleak('memleak (bcc)', find_program('memleak-bpfcc'), 'bpfcc-tools is not installed')]
    return columns + peers.all_columns()


def measure_probes(bench, pid):
    """The probes that hawktrace has on a process."""
    with Reporting(bench, pid, '--attach-via', WAYS[0]) as tracer:
        return probe_arguments(tracer.finish(0, is_minimum=True))

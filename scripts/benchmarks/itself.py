"""What hawktrace itself takes: to attach and detach, to read the counters, to report, of the CPU, of memory."""
import contextlib
import fcntl
import os
import pty
import re
import shutil
import struct
import tempfile
import termios
import threading
import time

from benchmarks.common import Program, Unmeasured, time_bound
from benchmarks.hawktrace import Abilities, Hawktrace

STACKS = 100_000
RESIDENT_STACKS = 20_000
ACTIVE_STACKS = 10_000
THREADS = 50
MANY_THREADS = 1000
FILES = 3000
# Seconds over which hawktrace's own CPU time is measured, and between two sweeps through all stacks during that time.
CPU_SECONDS = 10
SWEEP_PAUSE = 0.1


def traced(bench, pid, *options, terminal=None):
    return Hawktrace(bench.hawktrace, pid, *options, terminal=terminal)


def read_losses(text):
    """Stacks that were lost, from the JSON's losses."""
    return sum(int(count) for count in re.findall(r'"(?:stack_table_full|frames_full)": (\d+)', text))


def measure_stacks(bench):
    """Many distinct stacks: whether all are kept, the longest drain (all are new to it, because none comes before the
    last one), and the time to the report."""
    options = ['--verbose', '--interval', '10m']
    with Program([bench.programs / 'bench_stacks']) as target:
        # Losses are reported for all stacks, however few are shown.
        lost = sweep_once(bench, target, [*options, '--top', '1'], 'json')[0]
        bench.add('stacks lost', lost)
        if lost:
            # The times are worth knowing even so.
            options += ['--max-stacks', str(STACKS + STACKS // 4)]
        options.append('--require-exact')
        for _ in bench.own_turns(bench.long_rounds):
            _, drain_ms, report_ms = sweep_once(bench, target, options, 'text')
            bench.add('drain', drain_ms)
            bench.add('report', report_ms)
            if Abilities(bench.hawktrace).knows('--histograms'):
                _, drain_ms, _ = sweep_once(bench, target, [*options, '--histograms'], 'text')
                bench.add('drain, lives', drain_ms)


def sweep_once(bench, target, options, report_format):
    """Lost stacks, milliseconds of the longest drain and of reading the lives of blocks, if these are read, and
    milliseconds from the end of the trace to that of the report."""
    with tempfile.NamedTemporaryFile('r') as file, time_bound.of(60):
        with traced(bench, target.pid, '--format', report_format, '-o', file.name, *options) as tracer:
            target.ask(f'sweep {STACKS}')
            took_ms, _ = tracer.stop()
            output = tracer.error_text()
        with open(file.name, encoding='utf-8') as written:
            lost = read_losses(written.read()) if report_format == 'json' else None
    drain = re.search(r'longest drain: (\d+) stacks in ([\d.]+) ms', output)
    lives = re.search(r'lives of blocks read in ([\d.]+) ms', output)
    detached = re.search(r'detached in ([\d.]+) ms', output)
    if not drain or not detached or (not lost and int(drain.group(1)) < STACKS):
        raise Unmeasured(f'hawktrace --verbose tells {drain.group(0) if drain else "no longest drain"}')
    drain_ms = float(drain.group(2)) + (float(lives.group(1)) if lives else 0)
    return lost, drain_ms, took_ms - float(detached.group(1))


@contextlib.contextmanager
def open_terminal():
    """A terminal of 50 lines of 160 columns, and the list of how many bytes it was given at a time."""
    ours, theirs = pty.openpty()
    given = []
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 160, 0, 0))

    def discard():
        with contextlib.suppress(OSError):
            while data := os.read(ours, 65536):
                given.append(len(data))

    reader = threading.Thread(target=discard)
    reader.start()
    try:
        yield theirs, given
    finally:
        os.close(theirs)
        reader.join()
        os.close(ours)


def measure_own_use(bench, suffix, *options, terminal=None):
    """hawktrace's CPU share and memory at the default interval, while many stacks are active."""
    seconds = 4 if bench.quick else CPU_SECONDS
    with time_bound.of(60), Program([bench.programs / 'bench_stacks']) as target:
        with traced(bench, target.pid, '--require-exact', *options, terminal=terminal and terminal[0]) as tracer:
            target.ask(f'sweep {RESIDENT_STACKS}')
            time.sleep(1.5)  # they are read, and symbolized for the screen
            began, used = time.monotonic(), tracer.cpu_seconds()
            while time.monotonic() - began < seconds:
                target.ask(f'sweep {ACTIVE_STACKS}')
                time.sleep(SWEEP_PAUSE)
            used, elapsed = tracer.cpu_seconds() - used, time.monotonic() - began
            values = {'cpu': used / elapsed * 100, 'resident': tracer.status_mib('VmRSS'),
                      'peak': tracer.status_mib('VmHWM')}
            if terminal and not terminal[1]:
                raise Unmeasured('hawktrace draws nothing on the terminal')
            # With the report at the end. At least what this script has, since a child begins as its parent: so it must
            # not read large files.
            values['peak with report'] = max(tracer.stop()[1], values['peak'])
        for name, value in values.items():
            bench.add(name + suffix, value)


def measure_attaching(bench, target, suffix):
    # Once takes a third of a second, and scatters by a fifth: how long the kernel waits for its grace periods.
    for _ in bench.own_turns(bench.rounds if bench.quick else 4 * bench.rounds):
        with time_bound.of(60), traced(bench, target.pid, '--require-exact', '-o', '/dev/null', '--top',
                                            '1') as tracer:
            cpu_ms = tracer.cpu_seconds() * 1e3
            detach_ms, _ = tracer.stop()
            bench.add('attach' + suffix, tracer.attach_ms)
            bench.add('attach cpu' + suffix, cpu_ms)
            bench.add('detach' + suffix, detach_ms)


def measure_threads(bench, count, suffix):
    with Program([bench.programs / 'bench_threads', count]) as target:
        if target.answer() != [count]:
            raise Unmeasured(f'bench_threads does not start {count} threads')
        measure_attaching(bench, target, suffix)


def measure_files(bench):
    """Files that are mapped as libraries are: copies of one, each with symbols of its own to look through."""
    with tempfile.TemporaryDirectory(prefix='hawktrace-bench-') as directory:
        for number in range(FILES):
            shutil.copyfile(bench.programs / 'bench_files', f'{directory}/{number}.so')
        with Program([bench.programs / 'bench_files', directory]) as target:
            if target.answer() != [FILES]:
                raise Unmeasured(f'{FILES} files could not be mapped')
            measure_attaching(bench, target, ', files')


def measure_itself(bench):
    if not bench.wants('itself'):
        return
    bench.progress('hawktrace itself: stacks')
    with bench.trying(f'{STACKS:,} stacks'):
        measure_stacks(bench)
    bench.progress('hawktrace itself: attach and detach')
    with bench.trying(f'{THREADS} threads'):
        measure_threads(bench, THREADS, '')
    with bench.trying(f'{MANY_THREADS:,} threads'):
        measure_threads(bench, MANY_THREADS, ', threads')
    with bench.trying(f'{FILES:,} files'):
        measure_files(bench)
    bench.progress('hawktrace itself: CPU and memory')
    with bench.trying('own CPU and memory'):
        for _ in bench.own_turns(bench.long_rounds):
            measure_own_use(bench, '', '-o', '/dev/null')
    with bench.trying('own CPU and memory with the live screen'):
        for _ in bench.own_turns(bench.long_rounds):
            with open_terminal() as terminal:
                measure_own_use(bench, ', screen', terminal=terminal)

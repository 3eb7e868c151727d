"""Rows: processes of one program, which share their libc, under one hawktrace: what each further one takes, and what a call
in one of them costs beside the others."""
import contextlib
import pathlib
import shutil
import tempfile

from benchmarks.common import Program, time_bound
from benchmarks.hawktrace import Cgroup, Hawktrace

ROWS = ['targets']
COUNTS = (1, 10, 100)
PAIRS = 100_000
FRAMES = 4


def measure_count(bench, count):
    """Milliseconds to attach to so many, bytes at rest, and nanoseconds of a malloc and free in one of them, and in another
    process of the same libc."""
    with contextlib.ExitStack() as stack, time_bound.of(120):
        stranger = stack.enter_context(Program([bench.programs / 'bench_load']))
        stranger.ask('keep 0')
        programs = [stack.enter_context(Program([bench.programs / 'bench_load'])) for _ in range(count)]
        for program in programs:
            program.ask('keep 0')  # it has begun
        cgroup = stack.enter_context(Cgroup())
        pids = ' '.join(str(program.pid) for program in programs)
        tracer = stack.enter_context(Hawktrace(bench.hawktrace, pids, '--require-exact', '-o', '/dev/null', '--top', '1',
                                               cgroup=cgroup))
        at_rest = cgroup.bytes_without_files()
        nanoseconds, _ = programs[0].ask(f'malloc {FRAMES} {PAIRS}')
        of_stranger, _ = stranger.ask(f'malloc {FRAMES} {PAIRS}')
        detach_ms, _ = tracer.stop()
        return tracer.attach_ms, at_rest, nanoseconds, detach_ms, of_stranger


def libc_of(program):
    """The file that it has mapped."""
    maps = pathlib.Path(f'/proc/{program.pid}/maps').read_text(encoding='utf-8')
    return next(line.split()[-1] for line in maps.splitlines() if line.endswith('/libc.so.6'))


def measure_followed(bench, count):
    """Nanoseconds of a malloc and free in a process whose children, so many, are followed; the same as soon as there are so
    many, before hawktrace has chosen again whom probes are for; and of a fork. With a libc of their own: how many others
    map it decides that choice."""
    with contextlib.ExitStack() as stack, time_bound.of(120):
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        with Program([bench.programs / 'bench_load']) as other:
            other.ask('keep 0')
            shutil.copy(libc_of(other), directory)
        program = stack.enter_context(Program([bench.programs / 'bench_load'], {'LD_LIBRARY_PATH': directory}))
        program.ask('keep 0')
        tracer = stack.enter_context(Hawktrace(bench.hawktrace, program.pid, '--follow', '--interval', '0.1', '-o', '/dev/null',
                                               '--top', '1'))
        fork, _ = program.ask(f'fork {count}')
        at_once, _ = program.ask(f'malloc {FRAMES} {PAIRS // 10}')
        program.ask(f'malloc {FRAMES} {5 * PAIRS}')  # longer than three intervals
        nanoseconds, _ = program.ask(f'malloc {FRAMES} {PAIRS}')
        tracer.stop()
        return nanoseconds, at_once, fork


def measure_targets(bench):
    if not bench.wants(ROWS[0]):
        return
    for _ in range(bench.long_rounds):
        followed = {}
        for count in COUNTS:
            bench.progress(f'{count} children that are followed')
            with bench.trying(f'{count} followed children'):
                followed[count], at_once, fork = measure_followed(bench, count)
                bench.add(f'targets followed {count}', followed[count])
                bench.add(f'targets followed at once {count}', at_once)
                if count > COUNTS[0] and COUNTS[0] in followed:
                    bench.add(f'targets followed ratio {count}', followed[count] / followed[COUNTS[0]])
                bench.add(f'targets fork {count}', fork / 1e3)
        found = {}
        for count in COUNTS:
            bench.progress(f'{count} processes under one hawktrace')
            with bench.trying(f'{count} processes'):
                found[count] = measure_count(bench, count)
        for count, (_, _, nanoseconds, detach_ms, of_stranger) in found.items():
            bench.add(f'targets pair {count}', nanoseconds)
            bench.add(f'targets stranger {count}', of_stranger)
            bench.add(f'targets detach {count}', detach_ms)
            if count > COUNTS[0] and COUNTS[0] in found:
                attach_ms, at_rest = (found[count][i] - found[COUNTS[0]][i] for i in range(2))
                bench.add(f'targets attach {count}', attach_ms / (count - COUNTS[0]))
                bench.add(f'targets rest {count}', at_rest / (count - COUNTS[0]) / 2**20)
                bench.add(f'targets ratio {count}', nanoseconds / found[COUNTS[0]][2])

"""Rows of bench_load and of its twin without frame pointers: pairs, pairs in threads, lists, growth. One process is
measured under each column that attaches, in turn, round by round; a column that launches gets a process of its own."""
import contextlib

from benchmarks.columns import KEPT
from benchmarks.common import round_down, time_bound
from benchmarks.peers import Launched

FRAMES = (4, 20, 50, 120)
KINDS = ('calloc', 'realloc', 'memalign')
LIST_THREADS = (1, 2, 16)
LIST_ELEMENTS = 1_000_000
GROWTH_MIB = 256
GROWTH_SMALL = 100_000

NO_FP_ROWS = [f'no_fp {frames}' for frames in FRAMES]
PAIR_ROWS = [f'malloc {frames}' for frames in FRAMES] + NO_FP_ROWS + [f'{kind} 4' for kind in KINDS] + ['mapping']
THREAD_ROWS = ['threads 1', 'threads 2']
LIST_ROWS = [f'list {threads}' for threads in LIST_THREADS]


def pair_command(bench, column, kind, frames):
    """A command for the row, and its size in words."""
    # Sampling has to see some bytes.
    least = 100_000 if column.key == 'jemalloc' else 5000
    budget_ns = 1.4e8 if not bench.quick else 6e7
    pairs = round_down(max(least, min(500_000, budget_ns / column.cost_at(frames))))
    return f'{kind} {frames} {pairs}', f'{pairs:,} pairs'


def list_command(bench, column, threads):
    budget_ns = 1.5e9 if not bench.quick else 4e8
    is_full = not bench.quick and (column.main or column.cost_ns < 500)
    elements = LIST_ELEMENTS
    if not is_full:
        elements = min(elements, round_down(budget_ns / column.cost_at(4) / max(1, threads / min(threads, bench.cpus))))
    return f'list {threads} {elements}', f'{elements:,} elements a thread', elements * threads


def growth_command(bench, column):
    # Each small buffer is reallocated eleven times.
    budget_ns = 3e9 if not bench.quick else 3e8
    share = min(1, budget_ns / (GROWTH_SMALL * 11 * column.cost_at(4)))
    small = max(round_down(GROWTH_SMALL * share), 1000)
    mib = max(1, GROWTH_MIB * small // GROWTH_SMALL)
    return f'growth {mib} {small}', f'{mib} MiB and {small:,} small ones'


def call_commands(bench, column):
    """{row: (command, size)} of the short ones."""
    commands = {}
    for frames in FRAMES:
        commands[f'malloc {frames}'] = commands[f'no_fp {frames}'] = pair_command(bench, column, 'malloc', frames)
    for kind in KINDS:
        commands[f'{kind} 4'] = pair_command(bench, column, kind, 4)
    regions = 2_000 if bench.quick else 10_000
    commands['mapping'] = f'mapping {regions}', f'{regions:,} regions'
    for row, threads in zip(THREAD_ROWS, (1, 2)):
        command, size = pair_command(bench, column, 'malloc', 4)
        commands[row] = command.replace('malloc', f'threads {threads}'), size
    return {row: command for row, command in commands.items() if bench.wants(row) and column.takes(row)}


@contextlib.contextmanager
def workload(bench, column, subject, command, live):
    """The process that obeys, and what watches it: (program, watcher with finish())."""
    if column.launches:
        with Launched(column, command) as launched:
            yield launched.program, launched
    elif column.attaches:
        program = bench.subject(subject, command)
        with column.attach(bench, program.pid, live, subject) as watcher:
            yield program, watcher
    else:
        yield bench.subject(subject, command), None


def run_commands(bench, column, number, rows, live=0, seconds=60, subject='load'):
    """Runs {row: (command, size)} in one process of a program under a column, and records the samples once the watcher is
    content."""
    if not rows:
        return
    samples = {}
    with bench.attempt(rows, column), time_bound.of(seconds):
        with workload(bench, column, subject, [bench.programs / f'bench_{subject}'], live) as (program, watcher):
            total = 0
            for row, (command, size) in rows.items():
                nanoseconds, allocations = program.ask(command)
                samples[row] = nanoseconds, size
                total += allocations
            total += program.ask(f'keep {KEPT}')[1]
            if watcher:
                watcher.finish(total)
        for row, (nanoseconds, size) in samples.items():
            if nanoseconds < 0:
                bench.refuse(row, column, 'the block did not move')
            else:
                bench.record(row, column, number, nanoseconds, size)


def measure_calls(bench):
    rows = [row for row in PAIR_ROWS + THREAD_ROWS if bench.wants(row)]
    for number, column in bench.turns('pairs and threads', rows, bench.rounds if rows else 0):
        commands = call_commands(bench, column)
        no_fp = {row: commands.pop(row) for row in NO_FP_ROWS if row in commands}
        run_commands(bench, column, number, commands)
        run_commands(bench, column, number, no_fp, subject='load_no_fp')


def measure_lists(bench):
    rows = [row for row in [*LIST_ROWS, 'growth'] if bench.wants(row)]
    for number, column in bench.turns('lists and growth', rows, bench.long_rounds if rows else 0, others=1):
        commands, most = {}, 0
        for threads in LIST_THREADS:
            command, size, live = list_command(bench, column, threads)
            commands[f'list {threads}'] = command, size
            most = max(most, live if f'list {threads}' in rows else 0)
        commands['growth'] = growth_command(bench, column)
        run_commands(bench, column, number, {row: commands[row] for row in rows}, most, seconds=900)

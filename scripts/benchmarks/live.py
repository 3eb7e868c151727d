"""Rows of bench_live: what a call costs, and a block takes, while ten million live; and the longest call on the way there.

The table of a tracer grows in the middle of this, so each column is measured once, in a process of its own."""
import time

from benchmarks.calls import workload
from benchmarks.column import Column
from benchmarks.columns import AttachedHawktrace, Traced
from benchmarks.common import Unmeasured, time_bound
from benchmarks.hawktrace import Cgroup, available_bytes, memory_of

FEW = 10_000
MANY = 10_000_000
PAIRS = 40_000
# Sizes to choose from, so that columns can be compared.
SIZES = (100_000, 1_000_000, MANY)

BUILD_ROWS = ['build', 'build p99.99', 'build max', 'build over 1 ms', 'build max own', 'build over 1 ms own']
PAIR_ROWS = ['pair, few', 'pair, many', 'replace, few', 'replace, many']
MEMORY_ROWS = ['block bytes', 'rest MiB']
ROWS = BUILD_ROWS + PAIR_ROWS + MEMORY_ROWS


def blocks_for(bench, column: Column):
    """As many blocks as the column can be expected to see in time."""
    seconds = 1.5 if bench.quick else 15
    if column.main:
        return 1_000_000 if bench.quick else MANY
    most = 1_000_000 if bench.quick else MANY
    if column.attaches and not column.main:
        most = min(most, 1_000_000, column.most_live or most)
    return max(size for size in SIZES if size == SIZES[0] or (size <= most and size * column.cost_at(4) < seconds * 1e9))


def run_phases(program, blocks, pairs):
    """{row: figure} and the number of allocations."""
    built_few = program.ask(f'build {FEW}')
    pair_few, replace_few = program.ask(f'pair {pairs}'), program.ask(f'replace {pairs}')
    built = program.ask(f'build {blocks}')
    pair_many, replace_many = program.ask(f'pair {pairs}'), program.ask(f'replace {pairs}')
    figures = {'build': built[0], 'build p99.99': built[3], 'build max': built[4], 'build over 1 ms': built[5],
               'build max own': built[6], 'build over 1 ms own': built[7],
               'pair, few': pair_few[0], 'pair, many': pair_many[0], 'replace, few': replace_few[0],
               'replace, many': replace_many[0], 'resident KiB': built[8]}
    answers = (built_few, pair_few, replace_few, built, pair_many, replace_many)
    return figures, sum(answer[1] for answer in answers)


def pairs_for(column):
    return max(2000, min(PAIRS, int(1e8 / column.cost_at(4)) // 200 * 200))


def measure_live(bench):
    if not any(bench.wants(row) for row in ROWS):
        return
    for number, column in bench.turns('live blocks', BUILD_ROWS + PAIR_ROWS, 1):
        blocks = blocks_for(bench, column)
        bench.drop_subject('live')
        with bench.attempt(ROWS, column), time_bound.of(600):
            command = [bench.programs / 'bench_live', blocks]
            size = f'{blocks:,} live blocks'
            if isinstance(column, Traced) and column.main:
                figures = run_with_memory(bench, column, command, blocks)
            else:
                with workload(bench, column, 'live', command, blocks) as (program, watcher):
                    figures, total = run_phases(program, blocks, pairs_for(column))
                    if watcher:
                        watcher.finish(total)
            for row, figure in figures.items():
                bench.record(row, column, number, figure, size)
        # Its blocks go with it: ten million frees need not be traced.
        bench.drop_subject('live')


def rest_memory(bench, column):
    """Bytes that hawktrace takes with nothing to do, with default sizes: a dictionary, see memory_of."""
    program = bench.subject('load', [bench.programs / 'bench_load'])
    options = ['--attach-via', column.way, *column.table_options(bench, 0)]
    with Cgroup() as cgroup, AttachedHawktrace(bench, column, program.pid, 0, cgroup) as tracer:
        program.ask('malloc 4 200')
        # Two readings of the counters, at the default interval.
        time.sleep(2.3)
        memory = memory_of(tracer.tracer, cgroup)
        tracer.finish(0, is_minimum=True)
    bench.memory[f'{column.key}, at rest'] = {**memory, 'options': options}
    bench.record('rest MiB', column, 0, memory['total'] / 2**20, '')
    return memory


def run_with_memory(bench, column, command, blocks):
    """As run_phases, with what hawktrace takes for each block."""
    try:
        at_rest = rest_memory(bench, column)
    except Unmeasured as error:
        bench.refuse('rest MiB', column, str(error))
        bench.refuse('block bytes', column, str(error))
        with workload(bench, column, 'live', command, blocks) as (program, watcher):
            figures, total = run_phases(program, blocks, pairs_for(column))
            watcher.finish(total)
        return figures
    program = bench.subject('live', command)
    with Cgroup() as cgroup, AttachedHawktrace(bench, column, program.pid, blocks, cgroup) as tracer:
        available = available_bytes()
        figures, total = run_phases(program, blocks, pairs_for(column))
        # Until the counters were read again.
        time.sleep(1.2)
        memory = memory_of(tracer.tracer, cgroup)
        # A cross-check: the decrease of the machine's available memory, without the program's own blocks. Approximate,
        # because it covers the whole machine.
        memory['machine_lost'] = available - available_bytes() - int(figures['resident KiB'] * 1024)
        tracer.finish(total)
    bench.memory[f'{column.key}, {blocks:,} live blocks'] = memory
    # A table that is made for its greatest size from the start has to be counted whole.
    figures['block bytes'] = (memory['total'] - at_rest['total']) / blocks
    return figures

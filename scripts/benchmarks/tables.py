"""Markdown: all figures, the limits, and the page of the figures that are published."""
from benchmarks.calls import FRAMES, LIST_ROWS
from benchmarks.common import summary
from benchmarks.services import REDIS_ROWS

# Row, what it is called, unit. "ns" rows are compared with their floor and with untraced.
ROWS = (
    [(f'malloc {frames}', f'malloc+free, {frames} frames', 'ns') for frames in FRAMES]
    + [(f'no_fp {frames}', f'malloc+free without frame pointers, {frames} frames', 'ns') for frames in FRAMES]
    + [('calloc 4', 'calloc+free, 4 frames', 'ns'), ('realloc 4', 'realloc that moves, +free, 4 frames', 'ns'),
       ('memalign 4', 'posix_memalign+free, 4 frames', 'ns'), ('mapping', 'mmap of two pages, +munmap', 'ns'),
       ('threads 1', 'malloc+free in one thread', 'ns'),
       ('threads 2', 'malloc+free in each of two threads', 'ns')]
    + [(row, f'std::list, {row.split()[1]} thread{"" if row == "list 1" else "s"}, per element', 'ns') for row in LIST_ROWS]
    + [('growth', 'growing buffers, per realloc', 'ns'), ('build', 'building the live blocks, per malloc', 'ns'),
       ('build p99.99', 'of those calls, 99.99th percentile', 'ns'), ('build max', 'of those calls, the longest', 'ns'),
       ('build max own', 'the longest in CPU time', 'ns'),
       ('pair, few', 'malloc+free at 10,000 live', 'ns'), ('pair, many', 'malloc+free at the most live', 'ns'),
       ('replace, few', 'a random block replaced at 10,000 live', 'ns'),
       ('replace, many', 'a random block replaced at the most live', 'ns')]
    + [(row, f'redis {row.split()[1].upper()}, {"requests/s" if row.endswith("rps") else "p99 ms"}',
        'rate' if row.endswith('rps') else 'ms') for row in REDIS_ROWS]
    + [('compile', 'g++ compiles a file, s (has no p99)', 's')])


def figure(value):
    return f'{value:,.0f}' if value >= 100 else f'{value:.1f}' if value >= 10 else f'{value:.2f}'


def spread(stats, unit=''):
    text = figure(stats['median']) + unit
    return text if len(stats['samples']) == 1 else f'{text} ({figure(stats["min"])}-{figure(stats["max"])})'


def table_row(cells):
    return '| ' + ' | '.join(cells) + ' |'


def table(header, rows, right=True):
    return [table_row(header), table_row(['---'] + ['---:' if right else '---'] * (len(header) - 1))] + [
        table_row(cells) for cells in rows]


class Footnotes:
    """The reasons of empty cells and the sizes of full ones, each once."""

    def __init__(self):
        self.texts = []

    def mark(self, text):
        if not text:
            return ''
        if text not in self.texts:
            self.texts.append(text)
        return f' [{self.texts.index(text) + 1}]'

    def lines(self):
        return [f'[{number}] {text}  ' for number, text in enumerate(self.texts, 1)]


def cell(bench, notes, row, column, bare=False):
    """A figure, how many times the floor or untraced it is, and a footnote with the size or the reason."""
    stats = summary(bench.samples(row, column))
    if stats is None:
        return '-' + notes.mark(bench.reason(row, column))
    text = spread(stats)
    base = column.floor or ('untraced' if column.key != 'untraced' else None)
    ratio = bench.ratio(row, column, base) if base else None
    # Sizes differ, and ratios of p99 or of the longest call mean little.
    if ratio and not row.startswith(('build max', 'build p99.99')):
        text += f'<br>x {figure(ratio["median"])}' + (' floor' if column.floor else '')
    return text + ('' if bare else notes.mark(bench.size(row, column)))


def columns_of(bench, wanted):
    return [column for column in bench.columns if wanted(column) and bench.has(column.key)]


def figure_table(bench, notes, columns):
    """One row per workload, one column per tool."""
    rows = [[title] + [cell(bench, notes, row, column) for column in columns]
            for row, title, _ in ROWS if any(bench.tried(row, column) for column in columns)]
    return table(['nanoseconds unless stated otherwise'] + [column.title for column in columns], rows) if rows else []


def is_first_way(column):
    return not getattr(column, 'way', None) or column.way == 'session'


def limits_table(rows):
    lines = []
    for found in rows:
        allowed = f'{found["limit"]:g}{found["unit"]}' if found['limit'] is not None else ''
        allowed = f'at least {allowed}' if found['at_least'] else allowed
        lines.append([found['what'], '-' if found['stats'] is None else spread(found['stats'], found['unit']), allowed,
                      found['verdict'] + (f' ({found["note"]})' if found['note'] else '')])
    return table(['what', 'median (min-max)', 'limit', 'verdict'], lines)


def machine_line(about):
    return (f'{about["cpus"]} CPUs ({about["cpu"]}), Linux {about["kernel"]}, {about["hawktrace"]}; load average '
            f'{about["load_at_begin"]:.1f} at the start, {about["load_at_end"]:.1f} at the end')


def whole_report(bench, about, limits):
    notes = Footnotes()
    lines = ['# hawktrace benchmark', '', f'{machine_line(about)}; {bench.rounds} rounds.', '',
             'Medians of interleaved rounds (min-max). "x": times untraced; "x ... floor": times the bare traps, on',
             'the same functions with programs that return at once, of the same round. A number in brackets is a note: the size',
             'of the work, or why a cell is empty. For requests per second less is slower. For tools with which a process must be',
             'started, the time of the compile includes their own start and end.', '']
    for title, wanted in (('Against other tools', is_first_way),
                          ('Other ways to attach', lambda column: not is_first_way(column))):
        if found := figure_table(bench, notes, columns_of(bench, wanted)):
            lines += [f'## {title}', '', *found, '']
    lines += notes.lines()
    if limits:
        lines += ['', '## Limits', ''] + limits_table(limits)
    if bench.unmeasured:
        lines += ['', '## Could not be measured', ''] + [f'- {note}' for note in bench.unmeasured]
    return '\n'.join(lines) + '\n'


# ----------------------------------------------------------------------------------------------------- for the page

PAGE_ROWS = (('malloc 4', 'malloc+free, 4 calls deep'), ('malloc 50', '50 calls deep'),
               ('realloc 4', 'realloc that moves, +free'), ('list 1', '`std::list` of 10^6, one thread, per element'),
               ('list 16', '16 threads, per element'), ('growth', 'growing buffers, per realloc'),
               ('pair, many', 'malloc+free while the most blocks live'), ('redis set rps', 'redis `SET`, requests/s'),
               ('redis set p99', 'redis `SET`, p99 in ms'), ('compile', 'g++ on one file, seconds'))


def page_columns(bench):
    fixed = ('untraced', 'floor session', 'hawktrace session arena', 'hawktrace session hash')
    others = [column for column in bench.columns if column.key not in fixed and not getattr(column, 'way', None)]
    return [bench.column(key) for key in fixed if bench.has(key)] + [
        column for column in others if any(bench.samples(row, column) for row, _ in PAGE_ROWS)]


# Runs of the same work that differ by more reflect the machine, not the tools.
MOST_SPREAD = 1.2


def is_steady(bench, row):
    """Whether the untraced runs of a row are alike."""
    stats = summary(bench.samples(row, bench.column('untraced'))) if bench.has('untraced') else None
    return stats is None or stats['max'] <= MOST_SPREAD * stats['min']


def affordable(bench):
    """Sentences that follow from the cost of a pair."""
    best = next((key for key in ('hawktrace session arena', 'hawktrace session hash')
                 if bench.has(key) and bench.value('malloc 4', bench.column(key))), None)
    untraced = bench.value('malloc 4', bench.column('untraced')) if best else None
    if not untraced:
        return []
    added = bench.value('malloc 4', bench.column(best)) - untraced
    share = added * 1e-9 * 100
    return ['',
            f'A traced malloc+free pair costs {added / 1000:.1f} us more than an untraced one here. Pairs per second '
            f'times {added / 1000:.1f} us',
            f'is the share of one CPU that tracing takes. 10,000 pairs per second: {share * 1e4:.1f} %. 100,000: {share * 1e5:.0f} %. '
            f'Up to about {round(5 / share, -3):,.0f} pairs per second it',
            f'stays below 5 %: affordable in production. Above {round(50 / share, -3):,.0f} per second it takes half a CPU or more, '
            'and a program that does nothing',
            'but allocate becomes at least a hundred times slower: trace it for a few seconds, or use a sampling profiler that is '
            'linked into it.']


# Which build is walked, how, and under which column.
STACK_ROWS = (('no_fp', 'floor', 'floor session'), ('no_fp', 'hawktrace, arena', 'hawktrace session arena'),
              ('no_fp', 'hawktrace, hash', 'hawktrace session hash'), ('malloc', 'floor', 'floor session'),
              ('malloc', 'hawktrace, arena', 'hawktrace session arena'),
              ('malloc', 'hawktrace, arena, --unwind fp', 'hawktrace session arena fp'),
              ('malloc', 'bpf_get_stackid and the traps alone', 'stackid session'))


def stack_table(bench):
    """What walking stacks costs, of code with frame pointers and of code without."""
    builds = {'no_fp': 'without', 'malloc': 'with'}
    rows = [[f'{builds[build]} frame pointers: {what}'] + [cell(bench, Footnotes(), f'{build} {frames}', bench.column(key), True)
                                                          for frames in FRAMES]
            for build, what, key in STACK_ROWS if bench.has(key) and bench.tried(f'{build} {FRAMES[0]}', bench.column(key))]
    if not rows:
        return []
    return ['', 'The cost of walking the stack, for the same program built with and without frame pointers:', '',
            *table(['a malloc+free pair'] + [f'{frames} calls deep' for frames in FRAMES], rows)]


def unwinding(bench):
    """What tables cost, in sentences."""
    found = {name: summary(samples)['median'] for name, samples in bench.found.items() if summary(samples)}
    lines = []
    if {'tables, libc', 'tables, libLLVM-19'} <= found.keys():
        lines.append(f'The unwind table of libc is read in {figure(found["tables, libc"])} ms, that of libLLVM-19 '
                     f'({found["rows, libLLVM-19"]:,.0f} rows of {found["row bytes"]:.0f} bytes) in '
                     f'{figure(found["tables, libLLVM-19"])} ms.')
    if 'attach, code' in found:
        lines.append(f'Attaching to a process with {found["code MB"]:.0f} MB of code takes {figure(found["attach, code"])} ms.')
    hits = [f'{found[f"hits, {name}"]:.2f} % of the frames in {name}' for name in ('postgres', 'clang') if f'hits, {name}' in found]
    if hits:
        lines.append(f'Once warm, the cache in the kernel knew the rule of {" and of ".join(hits)}.')
    return [''] + lines if lines else []


def whole_programs(bench):
    """What tracing did to a server and to a compiler."""
    column = next((bench.column(key) for key in ('hawktrace session arena', 'hawktrace session hash')
                   if bench.has(key) and bench.value('redis set rps', bench.column(key))), None)
    ratios = [bench.ratio(row, column, 'untraced') if column else None for row in ('redis set rps', 'compile')]
    sentences = []
    if ratios[0] and is_steady(bench, 'redis set rps'):
        sentences.append(f'A redis-server that does nothing but `SET` keeps {ratios[0]["median"] * 100:.0f} % of its throughput '
                         'while it is traced.')
    if ratios[1] and is_steady(bench, 'compile'):
        sentences.append(f'A compiler takes {ratios[1]["median"]:.1f} times as long.')
    return ['', ' '.join(sentences)] if sentences else []


def page(bench, about, limits):
    notes = Footnotes()
    columns = page_columns(bench)
    rows = [[title] + [cell(bench, notes, row, column, bare=True) for column in columns] for row, title in PAGE_ROWS
            if is_steady(bench, row) and any(bench.tried(row, column) for column in columns)]
    unsteady = [title for row, title in PAGE_ROWS if not is_steady(bench, row)]
    missing = [f'{column.key}: {column.why_not}' for column in bench.columns
               if column.why_not and bench.has(column.key)]
    failed = [found['what'] for found in limits if found['verdict'] == '**not met**']
    unknown = [found['what'] for found in limits if found['verdict'] == 'not measured']
    lines = ['# What tracing costs', '', f'Measured with `scripts/bench --page scripts/benchmarks/README.md`: {machine_line(about)}.',
             f'Medians of up to {bench.rounds} interleaved rounds (min-max); nanoseconds unless stated otherwise. "x": times '
             'untraced; "x ... floor": times the',
             'bare traps in the same process. Absolute times differ from machine to machine, the ratios less. Slow tools were '
             'given less work,',
             'which changes the cost per operation little.', '']
    lines += table([''] + [column.title for column in columns], rows) + [''] + notes.lines()
    lines += affordable(bench) + whole_programs(bench) + stack_table(bench) + unwinding(bench)
    if missing:
        lines += ['', 'Not measured: ' + '; '.join(text.rstrip('.') for text in missing) + '.']
    if unsteady:
        lines += ['', f'Left out, because the untraced runs differed by more than {(MOST_SPREAD - 1) * 100:.0f} %: '
                  + '; '.join(unsteady) + '.']
    for what, found in (('Targets missed in this run', failed), ('Targets not measured in this run', unknown)):
        if found:
            lines += ['', f'{what}: ' + '; '.join(found) + '.']
    return '\n'.join(lines) + '\n'


def as_json(bench, about, limits):
    return {'schema': 'hawktrace.bench/2', 'machine': about, 'rounds': bench.rounds, 'quick': bench.quick,
            'cells': {row: {column.key: {'stats': summary(bench.samples(row, column)), 'size': bench.size(row, column),
                                         'reason': bench.reason(row, column),
                                         'per_round': bench.samples(row, column)}
                            for column in bench.columns if bench.tried(row, column)}
                      for row in bench.rows_tried()},
            'itself': {name: summary(samples) for name, samples in bench.found.items()},
            'memory': bench.memory, 'limits': limits, 'unmeasured': bench.unmeasured}

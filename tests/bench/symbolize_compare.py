#!/usr/bin/env python3
"""Compares hawktrace's symbolizer with llvm-symbolizer and eu-addr2line: symbolize_compare.py --ours bench_symbolize FILE

All get the same addresses, call sites of the code of FILE: few and many, random over the whole file, and clustered as the
frames of stacks are. Runs are interleaved, with FILE (and its debug file) in the page cache and without. Prints a
Markdown table, or JSON with --json: for each set and cache state, the least seconds and processor seconds of a run, how
ours relate to them (the ratio of the least, and the median of the rounds' ratios), and peak resident memory, of the
largest process. Last, in how many answers llvm-symbolizer differs, by kind:

- directory: the file's directory is relative and so is the compilation directory (both come from -fdebug-prefix-map);
  llvm-symbolizer joins them although the first is not below the second, we do not;
- scope: a function without a linkage name, which we give its namespaces and classes and llvm-symbolizer does not;
- frames, function, file, line: differences that need an explanation.

Names are compared as c++filt prints them, for LLVM's demangler spells types otherwise and does not know all of GCC's.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SETS = (('clustered', 20), ('random', 20), ('clustered', 1000), ('random', 1000), ('clustered', 20000),
        ('random', 20000))
# Neighbouring call sites that a cluster takes one or two of each function from.
CLUSTER = 40


def call_sites(file):
    """Addresses of the call instructions of `file`'s .text, ascending."""
    command = ['objdump', '-d', '-j', '.text', '--no-show-raw-insn', '-w', file]
    pattern = re.compile(r'^ *([0-9a-f]+):\s+(?:bnd |notrack )?call')
    sites = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as objdump:
        for line in objdump.stdout:
            match = pattern.match(line)
            if match:
                sites.append(int(match.group(1), 16))
    return sites


def choose(sites, shape, count, dice):
    """`count` distinct sites, or as many as there are."""
    if shape == 'random':
        return dice.sample(sites, min(count, len(sites)))
    chosen = {}
    while len(chosen) < min(count, len(sites) * 9 // 10):
        start = dice.randrange(len(sites))
        for index in range(start, min(start + CLUSTER, len(sites)), dice.randrange(1, 4)):
            if len(chosen) < count:
                chosen[sites[index]] = None
    return list(chosen)


def drop_from_cache(paths):
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def measure(command, text, output):
    """Seconds, CPU seconds and peak resident MiB of one run, its output going to the file `output`."""
    with tempfile.TemporaryFile('w+') as source, open(output, 'w') as sink:
        source.write(text)
        source.seek(0)
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f'{command[0]} failed with status {process.returncode}')
    # The peak of a program counts from its fork on: it is never less than what this one takes itself, which must be little.
    return {'seconds': seconds, 'cpu': usage.ru_utime + usage.ru_stime, 'mib': usage.ru_maxrss / 1024}


def commands(arguments):
    tools = {'ours': [arguments.ours, arguments.file]}
    if arguments.llvm:
        tools['llvm-symbolizer'] = [arguments.llvm, '--inlines', '--demangle', f'--obj={arguments.file}']
    if arguments.eu and arguments.eu_rounds:
        tools['eu-addr2line'] = [arguments.eu, '-i', '-f', '-C', '-e', arguments.file]
    return tools


def measure_set(arguments, tools, addresses, directory):
    """One row: for each cache state and tool the runs of all rounds."""
    text = ''.join(f'{address:#x}\n' for address in addresses)
    runs = {state: collections.defaultdict(list) for state in arguments.states}
    for number in range(arguments.rounds):
        for state in arguments.states:
            order = list(tools)
            random.Random(number).shuffle(order)
            for tool in order:
                if number >= arguments.eu_rounds and tool == 'eu-addr2line':
                    continue
                if state == 'cold':
                    drop_from_cache([arguments.file, *arguments.also])
                run = measure(tools[tool], text, directory / tool)
                runs[state][tool].append(run)
    return runs


MEASURES = ('seconds', 'cpu')


def ratios(runs, tool, peer, measure):
    """The ratio of the least of all rounds, and the median of each round's ratio."""
    least = min(run[measure] for run in runs[tool]) / min(run[measure] for run in runs[peer])
    paired = statistics.median(one[measure] / other[measure] for one, other in zip(runs[tool], runs[peer]))
    return {'least': least, 'paired': paired}


def summary(runs):
    row = {}
    for tool, all_runs in runs.items():
        row[tool] = {measure: min(run[measure] for run in all_runs) for measure in MEASURES}
        row[tool]['peak_mib'] = max(run['mib'] for run in all_runs)
        if tool != 'ours':
            row[tool]['ours_to_it'] = {measure: ratios(runs, 'ours', tool, measure) for measure in MEASURES}
    return row


def answers(path):
    """Per address, its frames as (function, file:line)."""
    blocks = pathlib.Path(path).read_text(errors='replace').split('\n\n')
    without_column = re.compile(r'^(.*:\d+):\d+$')
    return [list(zip(lines[::2], (without_column.sub(r'\1', place) for place in lines[1::2])))
            for lines in (block.strip('\n').split('\n') for block in blocks if block.strip())]


def compare_answers(arguments, addresses, directory):
    """How many answers differ, by kind; prints as many of them as --show tells. In a process of its own, see measure()."""
    different = differences(arguments, addresses, directory)
    shown = collections.Counter()
    for kind, address, ours, theirs in different:
        shown[kind] += 1
        if shown[kind] <= arguments.show:
            print(f'{address:#x} {kind}:\n  ours   {ours}\n  theirs {theirs}', file=sys.stderr)
    return dict(shown)


def normal(frames):
    """Frames without differences of spelling: './' and '..' in paths, spaces in names, an unknown line."""
    result = []
    for function, place in frames:
        file, _, line = place.rpartition(':')
        result.append((re.sub(r'\s', '', function.split(' [clone ')[0]), os.path.normpath(file), line))
    return result


def differences(arguments, addresses, directory):
    """(kind, address, ours, theirs) wherever llvm-symbolizer answers otherwise."""
    text = ''.join(f'{address:#x}\n' for address in addresses)
    command = [arguments.llvm, '--inlines', '--no-demangle', f'--obj={arguments.file}']
    mangled = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    readable = subprocess.run(['c++filt', '-i'], input=mangled, stdout=subprocess.PIPE, text=True, check=True).stdout
    (directory / 'theirs').write_text(readable)
    pairs = zip(addresses, answers(directory / 'ours'), answers(directory / 'theirs'), strict=True)
    return [(kind_of(normal(ours), normal(theirs)), address, ours, theirs) for address, ours, theirs in pairs
            if normal(ours) != normal(theirs)]


def kind_of(ours, theirs):
    """The gravest of the differences between two answers."""
    if len(ours) != len(theirs):
        return 'frames'
    kinds = set()
    for (our_function, our_file, our_line), (their_function, their_file, their_line) in zip(ours, theirs):
        if our_line != their_line:
            kinds.add('line')
        if our_file != their_file:
            is_joined = not our_file.startswith('/') and their_file.endswith('/' + our_file)
            kinds.add('directory' if is_joined else 'file')
        if our_function != their_function:
            is_scoped = our_function.split('(')[0].endswith('::' + their_function) or our_function.endswith(
                '::' + their_function)
            kinds.add('scope' if is_scoped else 'function')
    return next(kind for kind in ('function', 'line', 'file', 'scope', 'directory') if kind in kinds)


def markdown(rows):
    print('| addresses | cache | ours s (cpu) | MiB | ' + ' | '.join(
        f'{peer} s (cpu) | MiB | ours to it: least, paired (cpu)' for peer in ('llvm-symbolizer', 'eu-addr2line')) + ' | differ |')
    print('|---' * 11 + '|')
    for row in rows:
        cells = [row['set'], row['cache']]
        for tool in ('ours', 'llvm-symbolizer', 'eu-addr2line'):
            figures = row['tools'].get(tool)
            if figures is None:
                cells += ['', '', '']
                continue
            cells += [f'{figures["seconds"]:.3f} ({figures["cpu"]:.3f})', f'{figures["peak_mib"]:.0f}']
            if tool != 'ours':
                wall, cpu = (figures['ours_to_it'][measure] for measure in MEASURES)
                cells.append(f'{wall["least"]:.2f}, {wall["paired"]:.2f} ({cpu["least"]:.2f}, {cpu["paired"]:.2f})')
        kinds = ', '.join(f'{count} {kind}' for kind, count in row['different_answers'].items())
        print('| ' + ' | '.join(cells) + f' | {kinds or "none"} |')


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('file')
    parser.add_argument('--ours', required=True, help='the program bench_symbolize')
    parser.add_argument('--also', action='append', default=[], help='a file to drop from the cache too (debug file)')
    parser.add_argument('--llvm', default=shutil.which('llvm-symbolizer-19') or shutil.which('llvm-symbolizer'))
    parser.add_argument('--eu', default=shutil.which('eu-addr2line'))
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--eu-rounds', type=int, default=1, help='at most so many for eu-addr2line, which is slow; 0: none')
    parser.add_argument('--eu-most', type=int, default=1000, help='more addresses are not asked of it')
    parser.add_argument('--states', nargs='+', default=['warm', 'cold'])
    parser.add_argument('--sets', nargs='+', default=[f'{shape}:{count}' for shape, count in SETS])
    parser.add_argument('--show', type=int, default=0, help='differing answers to show of each kind')
    parser.add_argument('--json', action='store_true')
    return parser.parse_args()


def main():
    arguments = parse()
    sites = call_sites(arguments.file)
    all_tools = commands(arguments)
    rows = []
    with (tempfile.TemporaryDirectory(prefix='hawktrace-symbolize-') as name,
          concurrent.futures.ProcessPoolExecutor(1) as aside):
        directory = pathlib.Path(name)
        for text in arguments.sets:
            shape, count = text.split(':')
            addresses = choose(sites, shape, int(count), random.Random(1))
            tools = {name: command for name, command in all_tools.items()
                     if name != 'eu-addr2line' or len(addresses) <= arguments.eu_most}
            runs = measure_set(arguments, tools, addresses, directory)
            kinds = aside.submit(compare_answers, arguments, addresses, directory).result() if arguments.llvm else {}
            for state in arguments.states:
                rows.append({'set': f'{len(addresses)} {shape}', 'cache': state, 'tools': summary(runs[state]),
                             'different_answers': kinds})
    print(json.dumps(rows, indent=1)) if arguments.json else markdown(rows)


if __name__ == '__main__':
    main()

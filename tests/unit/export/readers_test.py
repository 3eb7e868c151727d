#!/usr/bin/env python3
"""Opens what hawktrace exports with the tools it is for, and compares what they find with the JSON report of the same
snapshot: readers_test.py DIRECTORY [CLASS], where export_samples has written them. Where a tool is too large to be installed
for a test, the file is read as the format's specification says.
"""
import collections
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SAMPLES = ('export', 'service', 'unsymbolized', 'lossy', 'deep', 'hostile', 'unwinding', 'empty', 'several')
METRICS = {'live': 'live_bytes', 'live-count': 'live_count', 'allocated': 'allocated_bytes',
           'allocated-count': 'allocated_count', 'freed-count': 'freed_count'}
DIRECTORY = pathlib.Path()
READERS_JS = pathlib.Path(__file__).parent / 'readers.js'
DH_VIEW = '/usr/libexec/valgrind/dh_view.js'  # of Debian's package valgrind


def path_of(sample, form):
    return DIRECTORY / f'{sample}.{form}'


def report_of(sample):
    return json.loads(path_of(sample, 'json').read_text(encoding='utf-8'))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors='strict').stdout


def samples_of(report):
    """The stacks of a report, each with what is whose: of several processes it has a part of each that has the stack."""
    return [(stack, part) for stack in report['stacks'] for part in stack.get('by_target', [stack])]


class ReaderTest(unittest.TestCase):
    """Each test is run for every sample."""

    def for_samples(self, check):
        for sample in SAMPLES:
            with self.subTest(sample=sample):
                check(sample, report_of(sample))


class Folded(ReaderTest):
    def test_each_metric_sums_up(self):
        def check(sample, report):
            for sort, key in METRICS.items():
                form = 'folded' if sort == 'live' else f'folded.{sort}'
                total = 0
                for line in path_of(sample, form).read_text(encoding='utf-8').split('\n')[:-1]:
                    stack, value = line.rsplit(' ', 1)
                    self.assertGreater(int(value), 0)
                    self.assertTrue(all(stack.split(';')), line)
                    total += int(value)
                self.assertEqual(total, report['totals'][key], sort)
        self.for_samples(check)


class Speedscope(ReaderTest):
    def test_every_profile_sums_up(self):
        def check(sample, report):
            document = json.loads(path_of(sample, 'speedscope').read_text(encoding='utf-8'))
            self.assertEqual(document['profiles'][document['activeProfileIndex']]['name'], 'live bytes')
            frames = len(document['shared']['frames'])
            self.assertEqual([len(p['samples']) for p in document['profiles']],
                             [sum(1 for s in report['stacks'] if s[key]) for key in METRICS.values()])
            for profile, key in zip(document['profiles'], METRICS.values(), strict=True):
                self.assertEqual(sum(profile['weights']), report['totals'][key])
                self.assertEqual(profile['endValue'], report['totals'][key])
                self.assertEqual(len(profile['samples']), len(profile['weights']))
                self.assertTrue(all(0 <= f < frames for sample in profile['samples'] for f in sample))
        self.for_samples(check)

    def test_is_what_its_schema_demands(self):
        """The rules of https://www.speedscope.app/file-format-schema.json, and what its importer trusts in beyond them. The
        importer itself is not in Debian.
        """
        def check(sample, _):
            document = json.loads(path_of(sample, 'speedscope').read_text(encoding='utf-8'))
            self.assertEqual(document['$schema'], 'https://www.speedscope.app/file-format-schema.json')
            self.assertLessEqual(set(document), {'$schema', 'shared', 'profiles', 'name', 'activeProfileIndex', 'exporter'})
            self.assertEqual(set(document['shared']), {'frames'})
            for frame in document['shared']['frames']:
                self.assertIsInstance(frame['name'], str)
                self.assertLessEqual(set(frame), {'name', 'file', 'line', 'col'})
                self.assertIsInstance(frame.get('file', ''), str)
                self.assertIsInstance(frame.get('line', 0), int)
            self.assertIn(document['activeProfileIndex'], range(len(document['profiles'])))
            for profile in document['profiles']:
                self.assertEqual(set(profile), {'type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'})
                self.assertEqual(profile['type'], 'sampled')
                self.assertIn(profile['unit'], ('none', 'nanoseconds', 'microseconds', 'milliseconds', 'seconds', 'bytes'))
                self.assertEqual(profile['endValue'] - profile['startValue'], sum(profile['weights']))
                self.assertTrue(all(weight >= 0 for weight in profile['weights']))
        self.for_samples(check)


def fields_of(message):
    """Number and value of each field of a message of protocol buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2, 'profile.proto has varints, texts and messages'
            size = varint()
            yield tag >> 3, message[at:at + size]
            at += size


def message_of(data):
    message = collections.defaultdict(list)
    for number, value in fields_of(data):
        message[number].append(value)
    return message


def packed(data):
    return [value for _, value in fields_of(b''.join(b'\x08' + v for v in varints_of(data)))]


def varints_of(data):
    start = 0
    for index, byte in enumerate(data):
        if byte < 0x80:
            yield data[start:index + 1]
            start = index + 1


class Pprof(ReaderTest):
    """Field numbers are those of google/pprof's proto/profile.proto; what must hold is what its CheckValid demands."""

    def test_samples_are_the_stacks_of_the_report(self):
        def check(sample, report):
            profile = message_of(gzip.decompress(path_of(sample, 'pprof').read_bytes()))
            texts = [text.decode('utf-8') for text in profile[6]]
            self.assertEqual(texts[0], '')
            types = [[texts[message_of(t)[n][0]] for n in (1, 2)] for t in profile[1]]
            self.assertEqual(types, [['alloc_objects', 'count'], ['alloc_space', 'bytes'], ['inuse_objects', 'count'],
                                     ['inuse_space', 'bytes']])
            self.assertEqual(texts[profile[14][0]], 'inuse_space')
            functions = {f[1][0]: (texts[f[2][0]], texts[f[4][0]]) for f in map(message_of, profile[5])}
            locations = {}
            for location in map(message_of, profile[4]):
                lines = [message_of(line) for line in location[4]]
                locations[location[1][0]] = [(*functions[line[1][0]], line[2][0] if line[2] else 0) for line in lines]
            self.assertEqual(len(locations), len(profile[4]), 'ids are distinct')
            mappings = [message_of(m)[1][0] for m in profile[3]]
            for location in map(message_of, profile[4]):
                self.assertTrue(not location[2] or location[2][0] in mappings)
            self.assertEqual(len(profile[2]), len(samples_of(report)))
            for data, (stack, part) in zip(profile[2], samples_of(report), strict=True):
                message = message_of(data)
                values = packed(message[2][0])
                self.assertEqual(values, [part['allocated_count'], part['allocated_bytes'], part['live_count'],
                                          part['live_bytes']])
                labels = {texts[label[1][0]]: label[3][0] if label[3] else texts[label[2][0]]
                          for label in map(message_of, message[3])}
                labels.pop('stack', None)
                target = report['targets'][part['target']] if 'by_target' in stack else None
                self.assertEqual(labels, {} if target is None else {
                    'pid': target['pid'], 'process': target['comm'], 'exe': target['exe'], 'cgroup': target['cgroup']})
                called = [line for id in packed(message[1][0]) for line in locations[id]]
                expected = [(f['function'], f['file'] or '', f['line'] or 0) for f in stack['frames']]
                if not expected:
                    expected = [('[no stack]', '', 0)]
                elif stack['truncated']:
                    expected.append(('[truncated stack]', '', 0))
                self.assertEqual(len(called), len(expected))
                for found, wanted in zip(called, expected, strict=True):
                    if wanted[0] is not None and wanted[0].isascii() and wanted[0].isprintable():
                        self.assertEqual(found, wanted)
        self.for_samples(check)


class GoPprof(ReaderTest):
    """google/pprof's own reader, as Go has it, without names to look up or programs to find."""

    OPTIONS = {'inuse_space': 'live_bytes', 'inuse_objects': 'live_count', 'alloc_space': 'allocated_bytes',
               'alloc_objects': 'allocated_count'}

    def pprof(self, *words):
        return run('go', 'tool', 'pprof', '-symbolize=none', *map(str, words))

    def test_top(self):
        for sample in SAMPLES:
            report = report_of(sample)
            for option, key in self.OPTIONS.items() if sample == 'export' else [('inuse_space', 'live_bytes')]:
                with self.subTest(sample=sample, option=option):
                    unit = '-unit=B' if option.endswith('space') else '-unit=count'
                    text = self.pprof('-top', '-nodefraction=0', '-nodecount=100000', unit, '-sample_index=' + option,
                                      path_of(sample, 'pprof'))
                    total = report['totals'][key]
                    found = re.search(r'of (\d+)B? total', text)
                    self.assertEqual(int(found.group(1)) if found else 0, total, text)
                    own = [int(n) for n in re.findall(r'^ +(\d+)B? +[\d.]+%', text, re.MULTILINE)]
                    self.assertEqual(sum(own), total, text)

    def test_raw(self):
        def check(sample, report):
            for form in ('pprof', 'pprof-raw'):
                text = self.pprof('-raw', path_of(sample, form))
                self.assertIn('alloc_objects/count alloc_space/bytes inuse_objects/count inuse_space/bytes', text)
                samples = text.split('Samples:\n', 1)[1].split('Locations\n', 1)[0]
                rows = [list(map(int, row.split())) for row in re.findall(r'^ +((?:\d+ +){3}\d+):', samples, re.MULTILINE)]
                self.assertEqual(len(rows), len(samples_of(report)))
                sums = [sum(column) for column in zip(*rows)] or [0] * 4
                self.assertEqual(sums, [report['totals'][key] for key in
                                        ('allocated_count', 'allocated_bytes', 'live_count', 'live_bytes')])
        self.for_samples(check)

    def test_raw_has_addresses_and_build_ids_for_names(self):
        text = self.pprof('-raw', path_of('service', 'pprof-raw'))
        self.assertNotIn('shop::', text)
        self.assertNotRegex(text, r'\[FN\]')
        modules = {(f['module'], f['build_id']) for s in report_of('service')['stacks'] for f in s['frames'] if f['module']}
        for module, build_id in modules:
            self.assertIn(f'{module} {build_id}', text)
        self.assertIn('[FN]', self.pprof('-raw', path_of('service', 'pprof')))


class Processes(ReaderTest):
    """What the tools make of stacks that begin with their processes, and of several processes without that."""

    def setUp(self):
        self.report = report_of('several')
        self.live = {f"{t['comm']} (pid {t['pid']})": t['totals']['live_bytes'] for t in self.report['targets']}

    def test_pprof_has_them_as_functions(self):
        for form in ('pprof', 'pprof-raw'):
            text = run('go', 'tool', 'pprof', '-symbolize=none', '-top', '-cum', '-unit=B', '-nodefraction=0',
                       path_of('processes', form))
            found = {name: int(cum) for cum, name in
                     re.findall(r'^ +\d+B? +[\d.]+% +[\d.]+% +(\d+)B? +[\d.]+% +(.* \(pid \d+\))$', text, re.MULTILINE)}
            self.assertEqual(found, self.live, text)

    def test_pprof_finds_them_by_label(self):
        for target in self.report['targets']:
            text = run('go', 'tool', 'pprof', '-symbolize=none', '-top', '-unit=B', '-nodefraction=0',
                       f"-tagfocus=pid={target['pid']}", path_of('several', 'pprof'))
            own = [int(n) for n in re.findall(r'^ +(\d+)B? +[\d.]+%', text, re.MULTILINE)]
            self.assertEqual(sum(own), target['totals']['live_bytes'], text)

    def test_callgrind_annotate(self):
        text = run('callgrind_annotate', '--threshold=100', '--auto=no', '--show-percs=no', '--inclusive=yes',
                   path_of('processes', 'callgrind'))
        for name, live in self.live.items():
            self.assertRegex(text, rf'(?m)^ *{live:,} .*{re.escape(name)}')

    def test_perl_profiles(self):
        for reader, form in (('google-pprof', 'gperftools'), ('jeprof', 'jemalloc')):
            folded = run(reader, '--collapsed', '--inuse_space', path_of('processes', form))
            found = collections.Counter()
            for line in folded.splitlines():
                found[line.split(';')[0]] += int(line.rsplit(' ', 1)[1])
            self.assertEqual(found, self.live, folded)

    def test_sqlite3(self):
        rows = run('sqlite3', path_of('several', 'sqlite'),
                   "SELECT comm || ' (pid ' || pid || ')', (SELECT sum(live_bytes) FROM shares WHERE target = id), live_bytes "
                   'FROM targets').splitlines()
        self.assertEqual([row.split('|') for row in rows], [[name, str(live), str(live)] for name, live in self.live.items()])


class Jq(ReaderTest):
    def test_json(self):
        def check(sample, report):
            for key in METRICS.values():
                self.assertEqual(int(run('jq', f'[.stacks[].{key}] | add // 0', path_of(sample, 'json'))), report['totals'][key])
        self.for_samples(check)

    def test_documents_of_others(self):
        """What is JSON is JSON to others too."""
        def check(sample, report):
            totals = report['totals']
            self.assertEqual(int(run('jq', '[.pps[].eb] | add // 0', path_of(sample, 'dhat'))), totals['live_bytes'])
            self.assertEqual(int(run('jq', '[.profiles[0].weights[]] | add // 0', path_of(sample, 'speedscope'))),
                             totals['live_bytes'])
        self.for_samples(check)


class Dhat(ReaderTest):
    def test_viewer_of_valgrind(self):
        """Its own code builds its tree, under Node: readers.js."""
        def check(sample, report):
            totals = report['totals']
            found = json.loads(run('node', READERS_JS, 'dhat', DH_VIEW, path_of(sample, 'dhat')))
            self.assertEqual(found, {'allocatedBytes': totals['allocated_bytes'],
                                     'allocatedBlocks': totals['allocated_count'],
                                     'endBytes': totals['live_bytes'], 'endBlocks': totals['live_count']})
        self.for_samples(check)

    def test_frames_are_what_the_firefox_profiler_reads(self):
        """The rules of its importer, which makes of the four numbers of each stack four tracks of native allocations."""
        def check(sample, report):
            document = json.loads(path_of(sample, 'dhat').read_text(encoding='utf-8'))
            self.assertEqual(document['dhatFileVersion'], 2)
            self.assertEqual(document['ftbl'][0], '[root]')
            found = set()
            for frame in document['ftbl'][1:]:
                self.assertRegex(frame, r'^0x[0-9a-f]+: .+$')
                if parts := re.match(r'^0x([0-9a-f]+): (.+) \((.+):(\d+):(\d+)\)$', frame):
                    found.add((parts.group(2), parts.group(3), int(parts.group(4))))
            called = {(f['function'], f['file'], f['line']) for s in report['stacks'] for f in s['frames'] if f['line']}
            plain = {c for c in called if all(re.fullmatch(r'[^\x00-\x1f\x7f-\uffff]*', str(part)) for part in c)}
            self.assertLessEqual({c for c in plain if ' (' not in c[0] + c[1]}, found)
            self.assertEqual(len(found), len(called))
            for point in document['pps']:
                self.assertTrue(all(0 < f < len(document['ftbl']) for f in point['fs']))
                self.assertGreaterEqual(point['tb'], point['mb'])
        self.for_samples(check)


class FlameGraph(ReaderTest):
    def test_page(self):
        """The page's own code, under Node: readers.js."""
        def check(sample, report):
            page = path_of(sample, 'flamegraph').read_text(encoding='utf-8')
            self.assertEqual(page.count('<script'), 2, 'no name adds one')
            self.assertEqual(page.count('</script>'), 2)
            self.assertNotRegex(page, r'(src|href)=')
            found = json.loads(run('node', READERS_JS, 'flamegraph', path_of(sample, 'flamegraph')))
            for index, key in enumerate(METRICS.values()):
                for direction in ('down', 'up'):
                    self.assertEqual(found[direction][index], report['totals'][key])
            self.assertEqual(found['matchesAll'], report['totals']['live_bytes'])
            self.assertEqual(found['matchesNone'], 0)
        self.for_samples(check)


class Massif(ReaderTest):
    def test_ms_print(self):
        def check(sample, report):
            text = run('ms_print', '--threshold=0', path_of(sample, 'massif'))
            live = report['totals']['live_bytes']
            rows = re.findall(r'^ +(\d) +([\d,]+) +([\d,]+) +([\d,]+) +0 +0$', text, re.MULTILINE)
            self.assertEqual([row[2].replace(',', '') for row in rows], ['0', str(live)])
            self.assertIn(f'({live:,}B) (heap allocation functions)', text)
            # What the callers of the allocator hold, at the first level of the tree.
            held = [int(n.replace(',', '')) for n in re.findall(r'^->[\d.]+% \(([\d,]+)B\)', text, re.MULTILINE)]
            self.assertEqual(sum(held), live)
        self.for_samples(check)


    def test_ms_print_of_a_series(self):
        text = run('ms_print', '--threshold=0', path_of('series', 'massif'))
        live, most = (report_of(sample)['totals']['live_bytes'] for sample in ('service', 'later_service'))
        rows = re.findall(r'^ +(\d) +([\d,]+) +([\d,]+) +([\d,]+) +0 +0$', text, re.MULTILINE)
        self.assertEqual([(row[1], row[2]) for row in rows],
                         [('0', '0'), ('1,000', '4,096'), ('8,000', f'{most:,}'), ('10,000', f'{live:,}')])
        self.assertIn('Detailed snapshots: [2 (peak), 3]', text)
        for total in (most, live):
            self.assertIn(f'({total:,}B) (heap allocation functions)', text)


class Heaptrack(ReaderTest):
    def test_heaptrack_print(self):
        def check(sample, report):
            totals = report['totals']
            text = run('heaptrack_print', '--print-leaks', '1', '-n', '100000', '-s', '100000', '-f',
                       path_of(sample, 'heaptrack'))
            self.assertIn(f"calls to allocation functions: {totals['allocated_count']} (", text)
            self.assertIn('temporary memory allocations: 0 (', text)
            self.assertEqual(re.search(r'total memory leaked: (.*)', text).group(1), si_bytes(totals['live_bytes']))
        self.for_samples(check)

    def test_heaptrack_print_sums_up(self):
        def check(sample, report):
            for cost, key in (('leaked', 'live_bytes'), ('allocations', 'allocated_count')):
                with tempfile.NamedTemporaryFile('r', encoding='utf-8') as folded:
                    run('heaptrack_print', '--flamegraph-cost-type', cost, '-F', folded.name, path_of(sample, 'heaptrack'))
                    total = sum(int(line.rsplit(' ', 1)[1]) for line in folded.read().split('\n')[:-1])
                self.assertEqual(total, report['totals'][key], cost)
        self.for_samples(check)


    def test_heaptrack_print_of_a_series(self):
        """Its own charts, as it writes them for massif."""
        points = [line.split() for line in (DIRECTORY / 'heaptrack_series.txt').read_text().splitlines()]
        totals = report_of('later_service')['totals']
        with tempfile.NamedTemporaryFile('r', encoding='utf-8') as massif:
            text = run('heaptrack_print', '-M', massif.name, path_of('series', 'heaptrack'))
            found = re.findall(r'^time=(\S+)\nmem_heap_B=(\d+)$', massif.read(), re.MULTILINE)
        grown = [(round(float(time) * 1000), int(live)) for time, live in found]
        self.assertTrue({(int(time), int(live)) for time, live in points} <= set(grown), grown)
        self.assertGreater(int(points[2][1]), int(points[3][1]), 'it shrinks and grows')
        self.assertIn(f"calls to allocation functions: {totals['allocated_count']} (", text)
        self.assertIn('temporary memory allocations: 0 (', text)
        self.assertEqual(re.search(r'total memory leaked: (.*)', text).group(1), si_bytes(totals['live_bytes']))
        most = max(int(live) for _, live in points)
        self.assertEqual(re.search(r'peak heap memory consumption: (.*)', text).group(1), si_bytes(most))


def si_bytes(value):
    """As heaptrack_print writes sizes."""
    for unit in ('B', 'K', 'M', 'G', 'T'):
        if value <= 1000:
            return f'{value:.0f}B' if unit == 'B' else f'{value:.2f}{unit}'
        value /= 1000
    raise ValueError('a sample is never that large')


class PerlProfiles(ReaderTest):
    """gperftools' and jemalloc's own readers, which have a common ancestor."""

    def check_reader(self, reader, form):
        def check(sample, report):
            if not report['stacks']:
                return  # both call an empty profile an error
            options = (('--inuse_space', 'live_bytes'), ('--inuse_objects', 'live_count'),
                       ('--alloc_space', 'allocated_bytes'), ('--alloc_objects', 'allocated_count'))
            for option, key in options if sample == 'export' else options[:1]:
                text = run(reader, '--text', '--show_bytes', '--nodefraction=0', option, path_of(sample, form))
                total = re.search(r'^Total: (\d+)', text, re.MULTILINE)
                self.assertEqual(int(total.group(1)), report['totals'][key], text)
        self.for_samples(check)

    def test_google_pprof(self):
        self.check_reader('google-pprof', 'gperftools')

    def test_jeprof(self):
        self.check_reader('jeprof', 'jemalloc')

    def test_symbols_are_found(self):
        for reader, form in (('google-pprof', 'gperftools'), ('jeprof', 'jemalloc')):
            text = run(reader, '--text', '--show_bytes', '--inuse_space', path_of('service', form))
            self.assertIn('shop::SessionTable::open', text)
            self.assertNotRegex(text, '0x[0-9a-f]{8}', 'every address has a name')
            folded = run(reader, '--collapsed', path_of('service', form))
            self.assertIn('main;shop::Server::dispatch(shop::Request const&);'
                          'shop::Router::route(shop::Request const&)[inline];shop::SessionTable::open', folded)


class Callgrind(ReaderTest):
    def test_callgrind_annotate(self):
        def check(sample, report):
            if not report['stacks']:
                return  # that there is nothing to annotate is an error to it
            text = run('callgrind_annotate', '--threshold=100', '--auto=no', '--show-percs=no', path_of(sample, 'callgrind'))
            totals = report['totals']
            expected = [totals[key] for key in ('live_bytes', 'live_count', 'allocated_bytes', 'allocated_count')]
            line = re.search(r'^(.*)PROGRAM TOTALS', text, re.MULTILINE).group(1)
            self.assertEqual([int(n.replace(',', '')) for n in line.split()], expected)
            own = [0] * 4
            for row in re.findall(r'^ *((?:[\d,.]+ +){4})\S.*:', text, re.MULTILINE):
                numbers = [0 if n == '.' else int(n.replace(',', '')) for n in row.split()]
                own = [a + b for a, b in zip(own, numbers, strict=True)]
            self.assertEqual(own, expected, 'what functions allocate by themselves is all')
            text = run('callgrind_annotate', '--threshold=100', '--auto=no', '--show-percs=no', '--inclusive=yes',
                       path_of(sample, 'callgrind'))
            for row in re.findall(r'^ *((?:[\d,.]+ +){4})\S.*:', text, re.MULTILINE):
                for number, total in zip(row.split(), expected, strict=True):
                    self.assertLessEqual(int(number.replace(',', '').replace('.', '0')), total, 'recursion counts once')
        self.for_samples(check)


class Sqlite(ReaderTest):
    def test_sums_and_frames(self):
        def check(sample, report):
            def query(sql):
                return json.loads(run('sqlite3', '-readonly', '-json', path_of(sample, 'sqlite'), sql) or '[]')

            self.assertEqual(query('PRAGMA integrity_check')[0]['integrity_check'], 'ok')
            for key in ('live_bytes', 'live_count', 'allocated_bytes', 'allocated_count', 'freed_bytes', 'freed_count'):
                found = query(f'SELECT coalesce(sum({key}), 0) AS n FROM stacks')[0]['n']
                self.assertEqual(found, report['totals'][key], key)
            frames = collections.defaultdict(list)
            for row in query('SELECT * FROM frames ORDER BY stack, depth, position'):
                frames[row['stack']].append((row['address'], row['line'], bool(row['inlined'])))
            for stack in report['stacks']:
                expected = [(f['address'], f['line'], f['inlined']) for f in stack['frames']]
                self.assertEqual(frames[stack['id']], expected)
            losses = {row['cause']: row['count'] for row in query('SELECT * FROM losses')}
            self.assertEqual(losses, report['losses'])
        self.for_samples(check)


class MemHawk(ReaderTest):
    def test_summary(self):
        def check(sample, report):
            lines = path_of(sample, 'memhawk-summary').read_text(encoding='utf-8').split('\n')
            totals = report['totals']
            found = re.fullmatch(r'Application heap: size: +([\d.]+) mb, active: +(\d+), total: +(\d+), average: +'
                                 r'([\d.]+) bytes, overhead: +0.000 mb', lines[1])
            self.assertEqual(found.group(1), f"{totals['live_bytes'] / 1048576:.3f}")
            self.assertEqual(int(found.group(2)), totals['live_count'])
            self.assertEqual(int(found.group(3)), totals['allocated_count'])
            traces = path_of(sample, 'memhawk-stacktraces').read_text(encoding='utf-8')
            listed = re.findall(r'^TraceId: (\d+)$', traces, re.MULTILINE)
            self.assertEqual(sorted(map(int, listed)), sorted(stack['id'] for stack in report['stacks']))
            named = [line.split(',')[0].split()[1] for line in lines if line.startswith('TraceId')]
            self.assertLessEqual(set(named), set(listed))
            for line in traces.split('\n')[:-1]:
                self.assertRegex(line, r'^(TraceId: \d+|0x[0-9a-f]+: .* \+ [0-9a-f]+: .*)$')
        self.for_samples(check)


if __name__ == '__main__':
    DIRECTORY = pathlib.Path(sys.argv.pop(1))
    unittest.main()

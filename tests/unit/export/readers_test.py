#!/usr/bin/env python3
"""Opens what hawktrace exports with the tools it is for, and compares what they find with the JSON report of the same
snapshot: readers_test.py EXPORT_SAMPLES. Where a tool is too large to be installed for a test, the file is read as the
format's specification says.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SAMPLES = ('export', 'service', 'unsymbolized', 'lossy', 'deep', 'hostile', 'unwinding', 'empty')
METRICS = {'live': 'live_bytes', 'live-count': 'live_count', 'allocated': 'allocated_bytes',
           'allocated-count': 'allocated_count', 'freed-count': 'freed_count'}
DIRECTORY = pathlib.Path()


def path_of(sample, form):
    return DIRECTORY / f'{sample}.{form}'


def report_of(sample):
    return json.loads(path_of(sample, 'json').read_text(encoding='utf-8'))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors='strict').stdout


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
            self.assertEqual(len(profile[2]), len(report['stacks']))
            for data, stack in zip(profile[2], report['stacks'], strict=True):
                message = message_of(data)
                values = packed(message[2][0])
                self.assertEqual(values, [stack['allocated_count'], stack['allocated_bytes'], stack['live_count'],
                                          stack['live_bytes']])
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


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as directory:
        DIRECTORY = pathlib.Path(directory)
        subprocess.run([sys.argv.pop(1), directory], check=True)
        unittest.main()

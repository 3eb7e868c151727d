#!/usr/bin/env python3
"""Uses pages of flame graphs as people do, in headless Chromium: page_test.py DIRECTORY, where export_samples has written
them. With HAWK_SCREENSHOTS set to a directory, leaves pictures there.
"""
import base64
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Page  # noqa: E402

DIRECTORY = pathlib.Path()
PAGES = pathlib.Path()
ROW = 18  # kRow of the page


class FlameGraphPage(unittest.TestCase):
    def open(self, name):
        """A browser tells a page by its name."""
        path = DIRECTORY / f'{name}.html'
        if not path.exists():
            path = PAGES / f'{name}.html'
            shutil.copy(DIRECTORY / f'{name}.flamegraph', path)
        self.page = Page()
        self.addCleanup(self.page.close)
        self.page.open(path)
        return self.page

    def details(self):
        """What is said of a box: its name, and the first number of each line below."""
        name, *lines = self.page.evaluate("document.getElementById('details').textContent").split('\n')
        return name, lines

    def value(self):
        _, (line, *_) = self.details()
        exact = re.search(r'([\d,]+) (bytes|blocks?)\)?', line)
        return int(exact.group(1).replace(',', ''))

    def at(self, row, x=10):
        """Where a row is in the window."""
        top = self.page.evaluate("document.getElementById('graph').getBoundingClientRect().top")
        return x, top + row * ROW + ROW // 2

    def keep_picture(self, name):
        if 'HAWK_SCREENSHOTS' in os.environ:
            path = pathlib.Path(os.environ['HAWK_SCREENSHOTS'], name)
            path.write_bytes(base64.b64decode(self.page.screenshot()))

    def test_click_search_metric_and_keys(self):
        page = self.open('service')
        totals = json.loads((DIRECTORY / 'service.json').read_text(encoding='utf-8'))['totals']
        self.assertEqual((self.details()[0], self.value()), ('all', totals['live_bytes']))
        self.keep_picture('flame_graph.png')
        page.move(*self.at(2))
        hovered, below_value = self.details()[0], self.value()
        self.assertLess(below_value, totals['live_bytes'])
        page.click(*self.at(2))
        self.assertEqual((self.details()[0], self.value()), (hovered, below_value))
        page.move(*self.at(2, x=900))
        self.assertEqual(self.details()[0], hovered, 'what is zoomed to takes the whole width')
        page.press('Escape')
        self.assertEqual(self.value(), totals['live_bytes'])

        page.press('m')
        self.assertEqual(page.evaluate("document.getElementById('metric').selectedOptions[0].textContent"), 'live blocks')
        self.assertEqual(self.value(), totals['live_count'])
        page.evaluate("metric = document.getElementById('metric'); metric.value = 2; metric.dispatchEvent(new Event('change'))")
        self.assertEqual(self.value(), totals['allocated_bytes'])

        page.press('ArrowDown')
        self.assertNotEqual(self.details()[0], 'all')
        page.press('ArrowUp')
        self.assertEqual(self.details()[0], 'all')
        page.press('i')
        self.assertTrue(page.evaluate("document.getElementById('inverted').checked"))
        self.assertEqual(self.value(), totals['allocated_bytes'], 'the other way round it is as much')

        page.press('/')
        for letter in 'SessionTable':
            page.press(letter)
        self.assertEqual(page.evaluate("document.getElementById('search').value"), 'SessionTable')
        share = float(re.fullmatch(r'matched: ([\d.]+) %', page.evaluate("document.getElementById('matched').textContent"))[1])
        self.assertTrue(0 < share < 100, share)
        self.keep_picture('searched.png')
        self.assertEqual([url for url in page.requests if not url.startswith('file:')], [])

    def test_difference(self):
        page = self.open('difference')
        before, after = (json.loads((DIRECTORY / f'{name}.json').read_text(encoding='utf-8'))['totals']['live_bytes']
                         for name in ('service', 'later'))
        self.assertNotEqual(before, after)
        self.assertEqual(self.value(), after)
        numbers = [int(n.replace(',', '')) for n in re.findall(r'([\d,]+) bytes', self.details()[1][1])]
        self.assertEqual(numbers, [before, after, abs(after - before)])
        self.keep_picture('difference.png')
        page.press('d')
        self.assertEqual(page.evaluate("document.getElementById('side').value"), 'before')
        self.assertEqual(self.value(), before)
        numbers = [int(n.replace(',', '')) for n in re.findall(r'([\d,]+) bytes', self.details()[1][1])]
        self.assertEqual(numbers, [before, after, abs(after - before)], 'what has changed is the same from both sides')
        self.keep_picture('difference_before.png')
        page.press('i')
        self.assertEqual(self.value(), before)
        page.press('d')
        self.assertEqual(self.value(), after)

    def test_names_that_are_hostile_do_nothing(self):
        page = self.open('hostile')
        self.assertEqual(page.evaluate('document.scripts.length'), 2)
        self.assertEqual(page.evaluate("document.querySelectorAll('img,iframe,object').length"), 0)
        page.press('ArrowDown')
        self.assertNotEqual(self.details()[0], 'all')


if __name__ == '__main__':
    DIRECTORY = pathlib.Path(sys.argv.pop(1))
    with tempfile.TemporaryDirectory() as directory:
        PAGES = pathlib.Path(directory)
        unittest.main()

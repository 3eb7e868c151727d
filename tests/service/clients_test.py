#!/usr/bin/env python3
"""What others read of a daemon that traces a known leak: Prometheus, promtool, go tool pprof. tests/unit/serving/clients_test.py has
what these make of odd targets.

    clients_test.py HAWKTRACE LEDGERS
"""
import http.client
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest

import hostile_test
from hostile_test import Hostile, Ledger

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / 'userspace/serving/examples'
# tests/kernel/ledgers/ends: blocks of 7, 14, ... 3500 bytes, of which every other one is freed.
ALLOCATED = [500, 7 * sum(range(1, 501))]
LIVE = [250, 7 * sum(range(2, 501, 2))]


def free_port():
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        return free.getsockname()[1]


class Clients(Hostile):
    """Without the cases of Hostile itself."""

    def setUp(self):
        super().setUp()
        self.port = free_port()
        serve = f'listen = ["unix:{self.directory}/daemon/socket", "127.0.0.1:{self.port}"]\n'
        self.served = self.daemon(self.ends(), serve=serve)
        self.ledger = Ledger()
        self.served.wait_for('tracing 1 of 1')
        self.ledger.run()

    def tearDown(self):
        self.ledger.end()
        self.served.wait_for('tracing 0 of 0')
        self.served.end()

    def test_prometheus_has_the_bytes_of_the_leak(self):
        config = (EXAMPLES / 'prometheus.yml').read_text(encoding='utf-8')
        config = config.replace('localhost:9817', f'127.0.0.1:{self.port}').replace('scrape_interval: 15s', 'scrape_interval: 1s')
        path = self.directory / 'prometheus.yml'
        path.write_text(config)
        port = free_port()
        with open(self.directory / 'log', 'w', encoding='utf-8') as log:
            prometheus = subprocess.Popen(['prometheus', f'--config.file={path}', f'--storage.tsdb.path={self.directory}/data',
                                           f'--web.listen-address=127.0.0.1:{port}'], stdout=log, stderr=log)
        try:
            self.until('the bytes of the leak', lambda: self.asked(port, 'hawktrace_live_bytes{target="web"}') == LIVE[1])
            self.assertEqual(self.asked(port, 'hawktrace_live_blocks{target="web"}'), LIVE[0])
            self.assertEqual(self.asked(port, 'hawktrace_allocated_bytes_total{target="web"}'), ALLOCATED[1])
            self.assertEqual(self.asked(port, 'sum(hawktrace_losses_total)'), 0)
        finally:
            prometheus.kill()
            prometheus.wait()

    @staticmethod
    def asked(port, query):
        """None while Prometheus has no answer."""
        connection = http.client.HTTPConnection('127.0.0.1', port, timeout=5)
        try:
            connection.request('GET', '/api/v1/query?query=' + query.replace('"', '%22').replace('{', '%7B').replace('}', '%7D'))
            results = json.load(connection.getresponse())['data']['result']
            return int(results[0]['value'][1]) if results else None
        except (OSError, http.client.HTTPException, ValueError, KeyError):
            return None
        finally:
            connection.close()

    def test_promtool_finds_nothing_wrong(self):
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=self.served.get('/metrics')[1], capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b''))

    def test_pprof_opens_its_heap(self):
        address = f'http://localhost:{self.port}/targets/web/debug/pprof/heap'
        environment = {**os.environ, 'PPROF_TMPDIR': str(self.directory)}
        text = subprocess.run(['go', 'tool', 'pprof', '-symbolize=none', '-raw', address], check=True, capture_output=True, text=True,
                              env=environment).stdout
        samples = text.split('Samples:\n', 1)[1].split('Locations\n', 1)[0]
        rows = [list(map(int, row.split())) for row in re.findall(r'^ +((?:-?\d+ +){3}-?\d+):', samples, re.MULTILINE)]
        self.assertEqual([sum(column) for column in zip(*rows)], ALLOCATED + LIVE)
        self.assertIn('by_malloc', text)


def load_tests(_loader, _tests, _pattern):
    """Of this file alone."""
    return unittest.TestSuite(Clients(name) for name in vars(Clients) if name.startswith('test_'))


if __name__ == '__main__':
    hostile_test.LEDGERS = pathlib.Path(sys.argv.pop(2)).resolve()
    hostile_test.HAWKTRACE = os.path.abspath(sys.argv.pop(1))
    unittest.main()

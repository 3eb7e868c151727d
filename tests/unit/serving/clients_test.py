#!/usr/bin/env python3
"""Asks a server of fake targets (serving_sample) as Prometheus, go tool pprof, curl and hostile clients do, and takes what it
pushes: clients_test.py SERVING_SAMPLE.
"""
import errno
import gzip
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

SAMPLE = ''
EXAMPLES = pathlib.Path(__file__).parents[3] / 'userspace' / 'serving' / 'examples'
TOKEN = '0123456789abcdef0123456789abcdef'


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, errors='strict', **options).stdout


class Scratch(unittest.TestCase):
    """With a directory of its own."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='hawktrace-serving-'))
        self.addCleanup(shutil.rmtree, self.directory)

    def file(self, name, content, mode=0o600):
        path = self.directory / name
        path.write_text(content, encoding='utf-8')
        path.chmod(mode)
        return path

    def certificate(self, name, *names):
        """A certificate that vouches for itself, and its key."""
        certificate, key = self.directory / f'{name}.crt', self.directory / f'{name}.key'
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                        '-subj', '/CN=test', '-addext', 'subjectAltName=' + ','.join(names), '-keyout', key, '-out', certificate],
                       check=True, capture_output=True)
        return certificate, key

    def serve(self, *settings):
        sample = Served(*settings)
        self.addCleanup(sample.end)
        return sample


class Served:
    """A running serving_sample."""

    def __init__(self, *settings):
        settings = settings if any(s.startswith('listen=') for s in settings) else (*settings, 'listen=127.0.0.1:0')
        self.process = subprocess.Popen([SAMPLE, *settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.addresses = []
        while address := self.process.stdout.readline().strip():
            self.addresses.append(address)
        if not self.addresses:
            raise AssertionError(self.process.communicate()[1])
        self.address = self.addresses[0]
        self.port = int(self.address.rsplit(':', 1)[1]) if not self.address.startswith('unix:') else 0

    def become(self, word):
        """Returns how many heaps have been asked for, once the target shop is that."""
        self.process.stdin.write(word + '\n')
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def get(self, path, headers=None, method='GET'):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, body

    def text(self, path):
        status, body = self.get(path)
        if status != 200:
            raise AssertionError(f'{path}: {status} {body}')
        return body.decode()

    def descriptors(self):
        return len(os.listdir(f'/proc/{self.process.pid}/fd'))

    def end(self):
        """What it has said on stderr."""
        if self.process.stdin:
            self.process.stdin.close()
            self.process.stdin = None
        messages = self.process.communicate(timeout=60)[1]
        if self.process.returncode != 0 or 'Sanitizer' in messages:
            raise AssertionError(f'status {self.process.returncode}: {messages}')
        return messages


def totals_of(served, target='shop'):
    return next(t for t in json.loads(served.text('/targets'))['targets'] if t['name'] == target)


def pprof_sums(source, *options, environment=None):
    """Sums over all samples: allocated blocks and bytes, live blocks and bytes."""
    text = run('go', 'tool', 'pprof', '-symbolize=none', '-raw', *options, str(source), env={**os.environ, **(environment or {})})
    samples = text.split('Samples:\n', 1)[1].split('Locations\n', 1)[0]
    rows = [list(map(int, row.split())) for row in re.findall(r'^ +((?:-?\d+ +){3}-?\d+):', samples, re.MULTILINE)]
    return [sum(column) for column in zip(*rows)] or [0] * 4


class Prometheus(Scratch):
    def test_promtool_finds_nothing_wrong(self):
        page = self.serve('top-stacks=3').text('/metrics')
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=page, capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ''))

    def test_a_query_returns_the_live_bytes_and_a_name_adds_no_series(self):
        served = self.serve()
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        # The job of the example, more often and with this port.
        config = (EXAMPLES / 'prometheus.yml').read_text(encoding='utf-8')
        self.assertIn('localhost:9817', config)
        config = config.replace('localhost:9817', f'localhost:{served.port}').replace('scrape_interval: 15s', 'scrape_interval: 1s')
        path = self.file('prometheus.yml', config)
        log = open(self.directory / 'log', 'w', encoding='utf-8')
        prometheus = subprocess.Popen(['prometheus', f'--config.file={path}', f'--storage.tsdb.path={self.directory}/data',
                                       f'--web.listen-address=127.0.0.1:{port}'], stdout=log, stderr=log)
        try:
            results = self.wait_for(port, 'hawktrace_live_bytes', prometheus)
        finally:
            prometheus.kill()
            prometheus.wait()
            log.close()
        totals = json.loads(served.text('/targets'))['targets']
        self.assertEqual({r['metric']['target'].encode(): int(r['value'][1]) for r in results},
                         {t['name'].encode(): t['live_bytes'] for t in totals})
        self.assertGreater(next(t for t in totals if t['name'] == 'shop')['live_bytes'], 0)

    def wait_for(self, port, query, prometheus):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            self.assertIsNone(prometheus.poll(), (self.directory / 'log').read_text(encoding='utf-8'))
            connection = http.client.HTTPConnection('127.0.0.1', port, timeout=5)
            try:
                connection.request('GET', '/api/v1/query?query=' + query)
                results = json.load(connection.getresponse())['data']['result']
                if results:
                    return results
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                pass
            finally:
                connection.close()
            time.sleep(0.1)  # Prometheus announces neither that it listens nor that it has scraped
        raise AssertionError((self.directory / 'log').read_text(encoding='utf-8'))

    def test_top_stacks_are_bounded_and_come_when_they_are_known(self):
        served = self.serve('top-stacks=2')
        deadline = time.monotonic() + 60
        stacks = []
        while not stacks and time.monotonic() < deadline:
            stacks = re.findall(r'^hawktrace_stack_live_bytes\{target="([^"]*)",stack="[0-9a-f]{16}",function="[^"]+"\} \d+$',
                                served.text('/metrics'), re.MULTILINE)
            time.sleep(0.05)
        self.assertEqual(sorted(stacks), ['several'] * 2 + ['shop'] * 2)

    def test_examples_are_what_promtool_takes(self):
        run('promtool', 'check', 'config', EXAMPLES / 'prometheus.yml')


class Profiles(Scratch):
    ORDER = ('allocated_count', 'allocated_bytes', 'live_count', 'live_bytes')

    def test_pprof_opens_them(self):
        served = self.serve()
        totals = totals_of(served)
        for path, shown in (('heap', 'live_bytes'), ('allocs', 'allocated_bytes')):
            url = f'http://localhost:{served.port}/targets/shop/debug/pprof/{path}'
            environment = {'PPROF_TMPDIR': str(self.directory)}
            self.assertEqual(pprof_sums(url, environment=environment), [totals[key] for key in self.ORDER])
            text = run('go', 'tool', 'pprof', '-symbolize=none', '-top', '-unit=B', url, env={**os.environ, **environment})
            self.assertIn(f'of {totals[shown]}B total', text)

    def test_by_query_as_well_and_whole_names_in_the_path(self):
        served = self.serve()
        body = served.get('/debug/pprof/heap?target=shop&gc=1')[1]
        self.assertEqual(body, served.get('/targets/shop/debug/pprof/heap')[1])
        self.assertTrue(gzip.decompress(body))
        self.assertEqual(served.get('/debug/pprof/heap')[0], 400)
        self.assertEqual(served.get('/debug/pprof/heap?target=none')[0], 404)
        self.assertEqual(served.get('/targets/shop/debug/pprof/profile')[0], 404)
        hostile = next(t['name'] for t in json.loads(served.text('/targets'))['targets'] if t['name'].startswith('evil'))
        self.assertEqual(served.get(f'/targets/{urllib.parse.quote(hostile, safe="")}/debug/pprof/heap')[0], 404)

    def of_period(self, served, word, path='heap', options=''):
        result = []
        asking = threading.Thread(target=lambda: result.append(served.get(f'/targets/shop/debug/pprof/{path}?seconds=1{options}')))
        before = totals_of(served)
        heaps = served.become('count')
        asking.start()
        while served.become('count') == heaps:
            pass  # its first snapshot has not been made yet
        served.become(word)
        asking.join()
        return before, totals_of(served), result[0]

    def test_seconds_is_the_difference(self):
        before, after, (status, body) = self.of_period(self.serve(), 'later')
        self.assertEqual(status, 200)
        path = self.directory / 'x.pb.gz'
        path.write_bytes(body)
        self.assertEqual(pprof_sums(path), [after[key] - before[key] for key in self.ORDER])

    def test_live_bytes_may_have_become_less(self):
        before, after, (status, body) = self.of_period(self.serve(), 'shrunk', 'allocs')
        self.assertEqual(status, 200)
        path = self.directory / 'x.pb.gz'
        path.write_bytes(body)
        sums = pprof_sums(path)
        self.assertEqual(sums, [after[key] - before[key] for key in self.ORDER])
        self.assertLess(sums[3], 0)

    def test_debug_is_text(self):
        served = self.serve()
        totals = totals_of(served)
        text = served.text('/targets/shop/debug/pprof/heap?debug=1')
        found = re.search(r'^heap profile: +(\d+): +(\d+) \[ *(\d+): +(\d+)\] @ heapprofile$', text, re.MULTILINE)
        self.assertEqual(list(map(int, found.groups())),
                         [totals[key] for key in ('live_count', 'live_bytes', 'allocated_count', 'allocated_bytes')])
        before, after, (_, body) = self.of_period(served, 'shrunk', options='&debug=1')
        self.assertEqual(int(re.search(r'^heap profile: +-?\d+: +(-?\d+) ', body.decode(), re.MULTILINE).group(1)),
                         after['live_bytes'] - before['live_bytes'])

    def test_numbers_are_checked(self):
        served = self.serve()
        for query in ('seconds=x', 'seconds=-1', 'seconds=301', 'seconds=1.5', 'seconds=', 'debug=9', 'seconds=99999999999'):
            self.assertEqual(served.get('/targets/shop/debug/pprof/heap?' + query)[0], 400, query)

    def test_periods_are_bounded_in_number_and_given_up_with_their_clients(self):
        served = self.serve()
        waiting = []
        for _ in range(16):
            waiting.append(socket.create_connection(('127.0.0.1', served.port)))
            waiting[-1].sendall(b'GET /targets/shop/debug/pprof/heap?seconds=300 HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.until(lambda: served.get('/targets/shop/debug/pprof/heap?seconds=300')[0] == 503)
        self.assertEqual(served.get('/targets/shop/debug/pprof/heap')[0], 200)
        for client in waiting:
            client.close()
        self.until(lambda: served.get('/targets/shop/debug/pprof/heap?seconds=1')[0] == 200)

    def until(self, is_so):
        deadline = time.monotonic() + 30
        while not is_so():
            self.assertLess(time.monotonic(), deadline)


class Scrapers(Scratch):
    """Stubs of Parca and of Grafana Alloy (pyroscope.scrape), which Debian does not have. The address is made of their
    configurations, as they document it: scheme, target, path_prefix and path; memory profiles without delta have no query. Of
    their scrape loops: a GET; a status of 200; a body that is not empty, and a pprof profile, gzipped or not. Alloy asks for
    gzip itself, and so takes the body as it is; Go's client, which Parca uses, asks too, and undoes a Content-Encoding.
    """

    def scrape(self, served, path, agent):
        connection = http.client.HTTPConnection('localhost', served.port, timeout=60)
        connection.request('GET', path, headers={'User-Agent': agent, 'Accept-Encoding': 'gzip'})
        answer = connection.getresponse()
        self.assertEqual((answer.status, answer.getheader('Content-Encoding')), (200, None))
        self.assertEqual(answer.getheader('Content-Type'), 'application/octet-stream')
        body = answer.read()
        connection.close()
        self.assertTrue(gzip.decompress(body))
        profile = self.directory / 'scraped.pb.gz'
        profile.write_bytes(body)
        totals = totals_of(served)
        self.assertEqual(pprof_sums(profile), [totals[key] for key in Profiles.ORDER])

    def path_in(self, example, prefix, path):
        text = (EXAMPLES / example).read_text(encoding='utf-8')
        self.assertIn('localhost:9817', text)
        self.assertNotIn('delta', re.sub('#.*', '', text))
        found = ''.join(re.search(pattern, text, re.MULTILINE).group(1) for pattern in (prefix, path))
        self.assertIn('/nginx/', found)
        return found.replace('/nginx/', '/shop/')

    def test_parca(self):
        path = self.path_in('parca.yaml', r'^ +path_prefix: (\S+)$', r'^ +path: (\S+)$')
        self.scrape(self.serve(), path, 'parca/0.24.0')

    def test_alloy(self):
        path = self.path_in('alloy.alloy', r'^ +path_prefix += "(\S+)"$', r'^ +path += "(\S+)"$')
        self.scrape(self.serve(), path, 'Alloy/v1.20.0 (linux; deb)')

    def test_a_target_that_is_not_traced_is_said_to_be_so(self):
        """Both show the body of a failure."""
        status, body = self.serve().get('/targets/none/debug/pprof/heap', {'Accept-Encoding': 'gzip'})
        self.assertEqual((status, body), (404, b'none: there is no such target\n'))


class Access(Scratch):
    def test_nothing_but_loopback_without_token_and_tls(self):
        result = subprocess.run([SAMPLE, 'listen=0.0.0.0:0'], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout), (2, ''))
        self.assertIn('other hosts can reach this address', result.stderr)
        self.assertIn('hint: ', result.stderr)

    def test_curl_with_token_and_tls(self):
        certificate, key = self.certificate('server', 'DNS:localhost', 'IP:127.0.0.1')
        token = self.file('token', TOKEN)
        served = self.serve('listen=0.0.0.0:0', f'token-file={token}', f'tls-certificate-file={certificate}', f'tls-key-file={key}')
        url = f'https://localhost:{served.port}'

        def curl(*words):
            return run('curl', '-sS', '--max-time', '20', '--noproxy', '*', '--cacert', certificate, '-w', '%{http_code}', *words)
        self.assertTrue(curl('-H', f'Authorization: Bearer {TOKEN}', url + '/metrics').endswith('200'))
        self.assertEqual(curl('-o', '/dev/null', url + '/metrics'), '401')
        self.assertEqual(curl('-o', '/dev/null', '-H', f'Authorization: Bearer {TOKEN[:-1]}', url + '/metrics'), '401')
        self.assertEqual(curl(url + '/healthz'), 'ok\n200')
        self.assertTrue(curl('-H', f'Authorization: Bearer {TOKEN}', '--tls-max', '1.2', url + '/status').endswith('200'))
        with self.assertRaises(subprocess.CalledProcessError):
            curl('-H', f'Authorization: Bearer {TOKEN}', '--tls-max', '1.1', url + '/status')
        # Large answers in many pieces, and a keep-alive connection.
        first = curl('-H', f'Authorization: Bearer {TOKEN}', '-o', '/dev/null', url + '/metrics', '-o', '/dev/null',
                     url + '/targets/shop/debug/pprof/heap')
        self.assertEqual(first, '200200')
        # Without TLS there is nothing to be had.
        with socket.create_connection(('127.0.0.1', served.port)) as plain:
            plain.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n')
            answer = plain.recv(1000)
        self.assertNotIn(b'HTTP/1.1', answer)

    def test_a_page_whose_name_leads_here_gets_nothing(self):
        served = self.serve('allowed-host=heaps.example')
        for host, status in (('attacker.example', 421), ('localhost', 200), ('heaps.example:1', 200), ('127.0.0.1', 200)):
            self.assertEqual(served.get('/targets', {'Host': host})[0], status, host)
        self.assertEqual(served.get('/targets', {'Sec-Fetch-Site': 'cross-site'})[0], 403)

    def test_a_unix_socket_is_its_owners_alone_and_is_replaced_and_removed(self):
        path = self.directory / 'x.sock'
        left_behind = socket.socket(socket.AF_UNIX)
        left_behind.bind(str(path))
        left_behind.close()
        served = self.serve(f'listen=unix:{path}')
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertIn('hawktrace_live_bytes', run('curl', '-sS', '--unix-socket', path, 'http://any-name/metrics'))
        second = subprocess.run([SAMPLE, f'listen=unix:{path}'], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        self.assertEqual(second.returncode, 6)
        self.assertIn('another program listens there', second.stderr)
        self.assertTrue(path.exists())
        served.end()
        self.assertFalse(path.exists())

    def test_a_file_that_is_no_socket_stays(self):
        path = self.file('x.sock', 'mine')
        result = subprocess.run([SAMPLE, f'listen=unix:{path}'], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual((result.returncode, path.read_text(encoding='utf-8')), (6, 'mine'))


class Receiver(http.server.BaseHTTPRequestHandler):
    """A stub of Pyroscope's."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length']))
        status = self.server.statuses.pop(0) if self.server.statuses else 200
        self.server.received.append((status, self.path, dict(self.headers), body))
        self.send_response(status)
        self.end_headers()
        with self.server.arrived:
            self.server.arrived.notify_all()

    def log_message(self, *_):
        pass


class Pushes(Scratch):
    def receiver(self, statuses=(), tls=None):
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Receiver)
        server.received, server.statuses, server.arrived = [], list(statuses), threading.Condition()
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={'poll_interval': 0.05}, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server

    def wait(self, server, count):
        with server.arrived:
            self.assertTrue(server.arrived.wait_for(lambda: len(server.received) >= count, timeout=60))
        return server.received[:count]

    def decode(self, push):
        status, path, headers, body = push
        address = urllib.parse.urlsplit(path)
        query = dict(urllib.parse.parse_qsl(address.query))
        file = self.directory / 'pushed.pb.gz'
        file.write_bytes(body)
        return status, address.path, query, headers, pprof_sums(file)

    def test_a_stub_of_pyroscope_decodes_them(self):
        server = self.receiver()
        served = self.serve(f'push-url=http://localhost:{server.server_port}/base', 'push-every=1000', 'push-tenant=t1', 'push-label=b')
        totals = {name: totals_of(served, name) for name in ('shop', 'several')}
        first = [self.decode(push) for push in self.wait(server, 2)]
        for (status, path, query, headers, sums), name in zip(first, totals, strict=True):
            self.assertEqual((status, path, query['name'], query['format']),
                             (200, '/base/ingest', f'hawktrace{{target={name},zone=b}}', 'pprof'))
            self.assertLess(int(query['from']), int(query['until']))
            self.assertEqual(headers['X-Scope-OrgID'], 't1')
            self.assertEqual(sums, [totals[name][key] for key in Profiles.ORDER])
        # Then what was allocated since, and what is live now.
        served.become('later')
        after = totals_of(served)
        shop = [p for p in map(self.decode, self.wait(server, 6)[2:]) if 'target=shop' in p[2]['name']]
        self.assertEqual(sum(p[4][1] for p in shop), after['allocated_bytes'] - totals['shop']['allocated_bytes'])
        self.assertEqual(shop[-1][4][2:], [after['live_count'], after['live_bytes']])
        self.assertIn('hawktrace_pushes_total{result="failed"} 0', served.text('/metrics'))

    def test_what_was_refused_is_sent_with_the_next_and_said_once(self):
        server = self.receiver(statuses=[500, 500, 500, 500])
        served = self.serve(f'push-url=http://localhost:{server.server_port}', 'push-every=1000')
        pushes = [self.decode(push) for push in self.wait(server, 6)]
        totals = totals_of(served)
        accepted = next(p for p in pushes if p[0] == 200 and 'shop' in p[2]['name'])
        self.assertEqual(accepted[4], [totals[key] for key in Profiles.ORDER])
        messages = served.end()
        self.assertEqual(messages.count('the server answers with status 500'), 1, messages)
        self.assertEqual(messages.count('again'), 1, messages)

    def test_over_https_the_server_must_be_who_it_says(self):
        good = self.certificate('good', 'DNS:localhost')
        token = self.file('token', TOKEN)
        server = self.receiver(tls=good)
        url = f'push-url=https://localhost:{server.server_port}'
        self.serve(url, 'push-every=1000', f'push-ca-file={good[0]}', f'push-token-file={token}')
        self.assertEqual(self.decode(self.wait(server, 1)[0])[3]['Authorization'], 'Bearer ' + TOKEN)
        other = self.certificate('other', 'DNS:other.example')
        for tls, ca_file in ((good, other[0]), (other, other[0])):
            server = self.receiver(tls=tls)
            served = self.serve(f'push-url=https://localhost:{server.server_port}', 'push-every=1000', f'push-ca-file={ca_file}',
                                f'push-token-file={token}')
            while 'hawktrace_pushes_total{result="failed"} 0' in served.text('/metrics'):
                time.sleep(0.05)
            self.assertIn('TLS: ', served.end())
            self.assertEqual(server.received, [])

    def test_a_server_that_is_not_there_or_babbles_does_no_harm(self):
        with socket.socket() as listener:
            listener.bind(('127.0.0.1', 0))
            listener.listen()
            served = self.serve(f'push-url=http://localhost:{listener.getsockname()[1]}', 'push-every=1000')
            client, _ = listener.accept()
            client.sendall(b'HTTP/1.1 100 \x1b[2J\r\n\r\n' + b'x' * 200_000)
            client.close()
            while 'hawktrace_pushes_total{result="failed"} 0' in served.text('/metrics'):
                time.sleep(0.05)
        messages = served.end()
        self.assertNotIn('\x1b', messages)
        self.assertIn('profiles cannot be sent to', messages)


class Hostile(Scratch):
    def test_one_thousand_connections_leave_nothing_behind(self):
        served = self.serve()
        served.get('/healthz')
        before = served.descriptors()
        crowd = [socket.create_connection(('127.0.0.1', served.port)) for _ in range(1000)]
        for number, client in enumerate(crowd):
            try:
                client.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' if number % 2 else b'GET /met')
            except OSError:
                pass  # it has had to give way
        self.assertEqual(served.get('/healthz')[0], 200)
        self.assertLess(served.descriptors(), before + 140)
        for client in crowd:
            client.close()
        deadline = time.monotonic() + 30
        # The connection that was just closed may still be there, and the timer with it.
        while served.descriptors() > before + 2:
            self.assertLess(time.monotonic(), deadline)
            served.get('/healthz')

    def test_nothing_is_injected(self):
        served = self.serve()
        page = served.get('/metrics')[1]
        self.assertNotIn(b'\x1b', page)
        self.assertEqual(re.findall(rb'(?m)^hawktrace_live_bytes\{target="shop"\} (\d+)$', page),
                         [str(totals_of(served)['live_bytes']).encode()])
        targets = served.get('/targets')[1]
        self.assertEqual(targets.count(b'\n'), 1)
        self.assertNotRegex(targets, rb'[\x00-\x09\x0b-\x1f]')
        status, body = served.get('/debug/pprof/heap?target=%E2%80%AEx%C2%9B')
        self.assertEqual((status, body), (404, '\ufffdx\ufffd: there is no such target\n'.encode()))
        for raw in (b'GET /%0d%0aX-Injected:1 HTTP/1.1\r\nHost: localhost\r\n\r\n', b'GET / HTTP/1.1\r\nHost: a\r\nX: \x1b[2J\r\n\r\n'):
            with socket.create_connection(('127.0.0.1', served.port)) as client:
                client.sendall(raw)
                answer = client.recv(4000)
            self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer)
            self.assertNotIn(b'X-Injected', answer)
        self.assertEqual(served.end(), '')

    def test_only_get_and_head(self):
        served = self.serve()
        for method, status in (('POST', 405), ('DELETE', 405), ('OPTIONS', 405), ('HEAD', 200)):
            self.assertEqual(served.get('/metrics', method=method)[0], status, method)

    def test_pipelined_requests_take_turns(self):
        """A client that asks for everything at once does not keep another one waiting."""
        served = self.serve()
        with socket.create_connection(('127.0.0.1', served.port)) as greedy:
            greedy.sendall(b'GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n' * 150)
            begin = time.monotonic()
            self.assertEqual(served.get('/healthz')[0], 200)
            self.assertLess(time.monotonic() - begin, 10)
            answers = b''
            while answers.count(b'HTTP/1.1 200 OK') < 150:
                piece = greedy.recv(1 << 20)
                self.assertTrue(piece)
                answers += piece

    def test_broken_handshakes_are_over_soon(self):
        certificate, key = self.certificate('server', 'DNS:localhost')
        served = self.serve(f'tls-certificate-file={certificate}', f'tls-key-file={key}')
        for noise in (b'\x16\x03\x01\xff\xff' + b'\0' * 70000, b'\0' * 100, os.urandom(5000), b'\x15\x03\x01\0\x02\x02\x28'):
            with socket.create_connection(('127.0.0.1', served.port)) as client:
                try:
                    client.sendall(noise)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(4096):
                        pass
                except OSError as error:  # it is over; ENOTCONN is no ConnectionError
                    if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                        raise
        self.assertEqual(run('curl', '-sS', '--noproxy', '*', '--cacert', certificate, f'https://localhost:{served.port}/healthz'), 'ok\n')


if __name__ == '__main__':
    SAMPLE = sys.argv.pop(1)
    unittest.main()

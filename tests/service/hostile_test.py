#!/usr/bin/env python3
"""The daemon among strangers: targets with odd names, connections that stay, folders and configurations that become something
else, signals, other daemons, numbers of processes that come again.

    hostile_test.py HAWKTRACE LEDGERS
"""
import contextlib
import ctypes
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HAWKTRACE = ''
LEDGERS = pathlib.Path()
PATIENCE_S = 60


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__('localhost', timeout=PATIENCE_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE_S)
        self.sock.connect(self.path)


class Daemon:
    """A daemon at work, of which the test is the service manager."""

    def __init__(self, directory, targets, name='daemon', heaps='heaps', serve='', ready='READY=1'):
        self.path = pathlib.Path(directory) / name
        self.path.mkdir()
        self.heaps = pathlib.Path(directory) / heaps
        self.config = self.path / 'hawktrace.toml'
        self.socket = str(self.path / 'socket')
        self.serve = serve or f'listen = ["unix:{self.socket}"]\n'
        self.write(targets)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(self.path / 'notify'))
        self.errors = open(self.path / 'errors', 'wb')
        self.process = None
        self.start(ready)

    def write(self, targets):
        self.config.write_text(f'[daemon]\ninterval = "100ms"\ndirectory = "{self.heaps}"\noomd-hook = "{self.path}/hook"\n'
                               f'[serve]\n{self.serve}{targets}')

    def start(self, ready='READY=1'):
        self.process = subprocess.Popen([HAWKTRACE, 'daemon', '--config', str(self.config)], stderr=self.errors,
                                        env={**os.environ, 'NOTIFY_SOCKET': str(self.path / 'notify')})
        if ready:
            self.wait_for(ready)

    def wait_for(self, text):
        until = time.monotonic() + PATIENCE_S
        last = ''
        while text not in last:
            if not select.select([self.manager], [], [], max(0, until - time.monotonic()))[0]:
                raise AssertionError(f'no "{text}" but "{last}"; it says: {self.said()}')
            last = self.manager.recv(4096).decode()

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        self.wait_for('RELOADING=1')
        self.wait_for('READY=1')

    def get(self, path):
        connection = UnixConnection(self.socket)
        with contextlib.closing(connection):
            connection.request('GET', path)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def said(self):
        return (self.path / 'errors').read_bytes().decode(errors='replace')

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait(PATIENCE_S) != 0:
            raise AssertionError(self.said())
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.manager.close()
        self.errors.close()


class Ledger:
    """tests/kernel/ledgers/ends, which waits before it allocates and before it ends."""

    def __init__(self, *words, program=None):
        self.began_ns = time.time_ns()
        self.process = subprocess.Popen([str(program or LEDGERS / 'ends'), *(words or ('wait',))], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.pid = self.process.pid
        self.read_until(b'ready')

    def read_until(self, word):
        while (line := self.process.stdout.readline().strip()) != word:
            if not line:
                raise AssertionError(f'the ledger ends before it says {word}')

    def run(self):
        self.process.stdin.write(b'g')
        self.process.stdin.flush()
        self.read_until(b'done')

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


class Hostile(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='hawktrace-hostile-'))
        self.addCleanup(shutil.rmtree, self.directory)

    def daemon(self, targets, **options):
        daemon = Daemon(self.directory, targets, **options)
        self.addCleanup(daemon.close)
        return daemon

    def ends(self, lines=''):
        return f'[target.web]\nexe = "{LEDGERS}/ends"\n{lines}\n'

    def report(self, recording):
        text = subprocess.run([HAWKTRACE, 'report', '-q', '--format', 'json', str(recording)], check=True, capture_output=True).stdout
        return json.loads(text)

    def recordings(self, daemon, target='web'):
        return sorted((daemon.heaps / target).glob('*.hawk'))

    def expect_exact_end(self, daemon, ledger):
        """Of the only process that is traced."""
        ledger.run()
        ledger.end()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        self.assertTrue(self.report(self.recordings(daemon)[0])['exact'])

    def target(self, daemon):
        return json.loads(daemon.get('/targets')[1])['targets'][0]

    def wait_until_traced(self, daemon, ledger):
        """It, and not another one that had its number."""
        self.until('a trace', lambda: any(process['pid'] == ledger.pid and process['state'] == 'traced' and
                                          process['start_unix_ns'] > ledger.began_ns for process in self.target(daemon)['processes']))

    def wait_until_all_have_ended(self, daemon):
        self.until('their ends', lambda: not self.target(daemon)['processes'])

    def until(self, what, is_so):
        """By asking again: of what is waited for the daemon announces nothing."""
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            self.assertLess(time.monotonic(), until, what)
            time.sleep(0.05)

    def test_names_are_nothing_but_names(self):
        """Of a file and of a process: control characters, quotes, what is no UTF-8, what looks like an option."""
        folder = self.directory / 'programs'
        folder.mkdir()
        names = [b'--help', b'a"} 1\nx{y="', b'\xff\xfe\xc3\x28', b'\x1b[2J\r\n', '\u202egnp.exe'.encode(), b'$(reboot)', b'%s%n']
        daemon = self.daemon(f'[target.odd]\nexe = "{folder}/*"\n')
        running = []
        for name in names:
            program = os.fsencode(folder) + b'/' + name
            shutil.copy(LEDGERS / 'ends', program)
            running.append(Ledger('signal', '11', program=os.fsdecode(program)))
        daemon.wait_for(f'tracing {len(names)} of {len(names)}')
        pages = [daemon.get(path) for path in ('/metrics', '/targets', '/status', '/targets/odd/debug/pprof/heap?debug=1')]
        for ledger in running:
            ledger.run()
            ledger.end()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        for status, page in pages:
            self.assertEqual(status, 200)
            self.assertNotRegex(page.decode(), '[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]')
        checked = subprocess.run(['promtool', 'check', 'metrics'], input=pages[0][1], capture_output=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b''))
        self.assertEqual(len(json.loads(pages[1][1])['targets'][0]['processes']), len(names))
        for line in daemon.said().splitlines():
            self.assertRegex(line, r'^hawktrace: (warning: )?(odd: |  |\d+ target)')
            self.assertNotRegex(line, '[\x00-\x1f\x7f-\x9f\u202e]')
        self.assertEqual([path.name for path in self.directory.glob('heaps/*')], ['odd'])
        self.assertEqual(len(self.report(self.recordings(daemon, 'odd')[0])['targets']), len(names))

    def test_a_process_that_renames_itself_stays_what_it_is(self):
        script = ('import ctypes, sys\nlibc = ctypes.CDLL(None)\n'
                  'for line in sys.stdin:\n  libc.prctl(15, bytes.fromhex(line), 0, 0, 0)\n  print(flush=True)\n')
        program = self.directory / 'renames'
        program.symlink_to('/usr/bin/python3')
        process = subprocess.Popen([program, '-c', script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        daemon = self.daemon('[target.odd]\ncomm = "renames"\n')
        daemon.wait_for('tracing 1 of 1')
        for name in (b'a\nb"c\\{}', b'\xff\x1b[31m', b'-rf', b''):
            process.stdin.write(name.hex().encode() + b'\n')
            process.stdin.flush()
            process.stdout.readline()
            status, page = daemon.get('/targets')
            self.assertEqual((status, len(json.loads(page)['targets'][0]['processes'])), (200, 1))
        process.stdin.close()
        process.wait()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        for line in daemon.said().splitlines():
            self.assertRegex(line, '^hawktrace: ')
        self.assertEqual(len(self.recordings(daemon, 'odd')), 1)

    def test_connections_that_stay_do_not_delay_a_reload(self):
        daemon = self.daemon(self.ends())
        crowd = []
        for number in range(1000):
            client = socket.socket(socket.AF_UNIX)
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionError):
                client.connect(daemon.socket)
                client.send(b'GET /metrics HTTP/1.1\r\nX: ' + b'x' * 100 if number % 2 else b'GET /metrics HTTP/1.1\r\n\r\n')
            crowd.append(client)
        began = time.monotonic()
        daemon.reload()
        self.assertLess(time.monotonic() - began, 10)
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        self.assertEqual(daemon.get('/healthz')[0], 200)
        for client in crowd:
            client.close()
        self.expect_exact_end(daemon, ledger)

    def test_a_configuration_that_is_no_file_changes_nothing(self):
        daemon = self.daemon(self.ends())
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        daemon.config.unlink()
        daemon.reload()
        os.mkfifo(daemon.config)
        daemon.reload()
        daemon.config.unlink()
        daemon.config.mkdir()
        daemon.reload()
        daemon.config.rmdir()
        daemon.config.symlink_to('/dev/zero')
        daemon.reload()
        self.assertEqual(daemon.said().count('the configuration stays as it was'), 4, daemon.said())
        self.expect_exact_end(daemon, ledger)

    def test_a_storm_of_signals_is_weathered(self):
        daemon = self.daemon(self.ends())
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        for _ in range(2000):
            daemon.process.send_signal(signal.SIGHUP)
        ledger.run()
        ledger.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        recordings = self.recordings(daemon)
        self.assertEqual(len(recordings), 1)
        self.assertTrue(self.report(recordings[0])['exact'])

    def test_recordings_can_be_switched_off_and_on_at_any_time(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        first, second = Ledger(), Ledger()
        daemon.wait_for('tracing 2 of 2')
        for ledger in (first, second):
            ledger.run()
        self.until('an interval', lambda: self.recordings(daemon))
        daemon.write(self.ends('record = false'))
        daemon.reload()
        first.end()
        daemon.wait_for('tracing 1 of 1')
        daemon.write(self.ends('record-every = "100ms"'))
        daemon.reload()
        second.end()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        recordings = [self.report(path) for path in self.recordings(daemon)]
        self.assertEqual([len(report.get('targets', [report])) for report in recordings], [2, 1])
        self.assertTrue(all(report['exact'] for report in recordings))

    def test_recordings_go_on_when_their_folder_has_gone(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        self.until('a recording', lambda: self.recordings(daemon))
        shutil.rmtree(daemon.heaps)
        ledger.run()
        ledger.end()
        daemon.wait_for('tracing 0 of 0')
        again = Ledger()
        daemon.wait_for('tracing 1 of 1')
        again.run()
        again.end()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        self.assertTrue(self.report(self.recordings(daemon)[-1])['exact'])

    def test_a_folder_where_others_may_write_is_refused(self):
        """They could lead us elsewhere from there."""
        nobody = 65534
        heaps, link = self.directory / 'heaps', self.directory / 'link'
        heaps.mkdir(0o700)
        link.symlink_to(heaps)
        os.chown(link, nobody, nobody, follow_symlinks=False)
        for folder, owner, mode in ((heaps, nobody, 0o700), (heaps, 0, 0o777), (heaps, 0, 0o1777), (heaps, 0, 0o720), (link, 0, 0o700)):
            os.chown(heaps, owner, -1)
            heaps.chmod(mode)
            config = self.directory / 'hawktrace.toml'
            config.write_text(f'[daemon]\ndirectory = "{folder}"\n[serve]\nlisten = []\n{self.ends()}')
            refused = subprocess.run([HAWKTRACE, 'daemon', '--config', config], capture_output=True, text=True, check=False,
                                     timeout=PATIENCE_S)
            self.assertEqual(refused.returncode, 6, refused.stderr)
            self.assertIn(f'write to {folder}: it is not a directory of ours alone', refused.stderr)

    def test_two_daemons_trace_the_same(self):
        first, second = self.daemon(self.ends()), self.daemon(self.ends(), name='second')
        ledger = Ledger()
        first.wait_for('tracing 1 of 1')
        second.wait_for('tracing 1 of 1')
        ledger.run()
        ledger.end()
        for daemon in (first, second):
            daemon.wait_for('tracing 0 of 0')
            daemon.end()
        recordings = self.recordings(first)
        self.assertEqual(len(recordings), 2, first.said() + second.said())
        numbers = [self.report(recording)['totals'] for recording in recordings]
        # How far the peak can have been above what was seen depends on when each of them looked.
        for each in numbers:
            self.assertGreaterEqual(each.pop('peak_live_bytes_most'), each['peak_live_bytes'])
        self.assertEqual(numbers[0], numbers[1])

    def test_one_address_is_one_daemons(self):
        first = self.daemon(self.ends())
        second = subprocess.run([HAWKTRACE, 'daemon', '--config', str(first.config)], capture_output=True, text=True, check=False,
                                timeout=PATIENCE_S)
        self.assertEqual(second.returncode, 6, second.stderr)
        self.assertIn('another program listens there', second.stderr)
        self.assertEqual(first.get('/healthz')[0], 200)
        first.end()

    def test_a_file_of_a_number_may_have_anything(self):
        pid_file = self.directory / 'pid'
        pid_file.write_bytes(b'')
        daemon = self.daemon(f'[target.web]\npid-file = "{pid_file}"\n')
        ledger = Ledger()
        for content in (b'-1', b'0', b'99999999999999999999', b'\0' * 100, b'1' * 5000, b'x', str(daemon.process.pid).encode(),
                        b'2', b'4194305'):
            pid_file.write_bytes(content)
            daemon.reload()
            self.assertEqual(self.target(daemon)['processes'], [], content)
        pid_file.unlink()
        os.mkfifo(pid_file)
        daemon.reload()
        pid_file.unlink()
        pid_file.write_text(f'{ledger.pid}\n')
        daemon.wait_for('tracing 1 of 1')
        self.expect_exact_end(daemon, ledger)

    def test_a_number_that_comes_again_is_another_process(self):
        daemon = self.daemon(self.ends())
        first = Ledger()
        daemon.wait_for('tracing 1 of 1')
        first.run()
        first.end()
        for _ in range(50):
            pathlib.Path('/proc/sys/kernel/ns_last_pid').write_text(str(first.pid - 1))
            second = Ledger()
            if second.pid == first.pid:
                break
            second.run()
            second.end()
        self.assertEqual(second.pid, first.pid)
        self.wait_until_traced(daemon, second)
        second.run()
        second.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        targets = self.report(self.recordings(daemon)[0])['targets']
        self.assertEqual(len([target for target in targets if target['pid'] == first.pid]), 2)

    def test_a_service_that_restarts_all_the_time_is_followed(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        until = time.monotonic() + 5
        while time.monotonic() < until:
            ledger = Ledger('signal', '9')
            # The rate of the restarts, and no wait: the daemon may have found it by then, or not.
            time.sleep(0.05)
            ledger.run()
            ledger.end()
        last = Ledger()
        self.wait_until_traced(daemon, last)
        last.run()
        last.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        self.assertNotIn('left out', daemon.said())
        self.assertLessEqual(daemon.said().count('was killed by SIGKILL'), 6)
        self.assertTrue(self.report(self.recordings(daemon)[-1]))

    def test_a_daemon_that_is_killed_leaves_what_it_has_written_and_begins_again(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        ledger.run()
        self.until('an interval', lambda: self.recordings(daemon) and self.report(self.recordings(daemon)[0])['totals']['live_count'] == 250)
        daemon.process.kill()
        daemon.process.wait()
        daemon.start()
        daemon.wait_for('tracing 1 of 1')
        ledger.end()
        daemon.wait_for('tracing 0 of 0')
        daemon.end()
        first, second = map(self.report, self.recordings(daemon))
        self.assertEqual(first['totals']['live_count'], 250)
        self.assertEqual((second['totals']['allocated_count'], second['exact']), (0, True))


if __name__ == '__main__':
    LEDGERS = pathlib.Path(sys.argv.pop(2)).resolve()
    HAWKTRACE = os.path.abspath(sys.argv.pop(1))
    unittest.main()

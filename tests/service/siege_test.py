#!/usr/bin/env python3
"""The daemon under siege: its configuration read again while services flap, disks that fill and folders that are exchanged while it
writes, clients that never finish a handshake, targets that are stopped, that run one program after the other, or whose cgroup is
removed, and its own end by SIGKILL.

    siege_test.py HAWKTRACE LEDGERS
"""
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import hostile_test
from hostile_test import Hostile, Ledger

PATIENCE_S = 60
LIBC = ctypes.CDLL(None, use_errno=True)


def kernel_objects(pid):
    """What the descriptors of a process lead to in the kernel, and how many lead there."""
    counts = {}
    for fd in pathlib.Path(f'/proc/{pid}/fd').iterdir():
        with contextlib.suppress(FileNotFoundError):
            to = os.readlink(fd)
            if to.startswith('anon_inode:'):
                counts[to] = counts.get(to, 0) + 1
    return counts


def changed_code(pid):
    """Where the code of a process differs from the file that it has mapped it from: a breakpoint, or another patch."""
    found = []
    with open(f'/proc/{pid}/mem', 'rb') as memory:
        for line in pathlib.Path(f'/proc/{pid}/maps').read_text().splitlines():
            words = line.split(maxsplit=5)
            if 'x' not in words[1] or len(words) < 6 or not words[5].startswith('/'):
                continue
            start, end = (int(number, 16) for number in words[0].split('-'))
            memory.seek(start)
            with open(words[5], 'rb') as file:
                file.seek(int(words[2], 16))
                expected = file.read(end - start)
            if memory.read(end - start)[:len(expected)] != expected:
                found.append(words[5])
    return found


class Siege(Hostile):
    """Without the cases of Hostile itself."""

    def at_rest(self, daemon):
        """Its kernel objects, once they have not changed for a while: links are closed by a thread of its own."""
        last, since = kernel_objects(daemon.process.pid), time.monotonic()
        while time.monotonic() - since < 0.5:
            now = kernel_objects(daemon.process.pid)
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.02)
        return last

    def settle(self, daemon):
        """One process has been traced, and has ended."""
        ledger = Ledger()
        self.wait_until_traced(daemon, ledger)
        ledger.run()
        ledger.end()
        self.wait_until_all_have_ended(daemon)
        return self.at_rest(daemon)

    def tmpfs(self, size):
        path = self.directory / 'disk'
        path.mkdir()
        if LIBC.mount(b'tmpfs', os.fsencode(path), b'tmpfs', 0, f'size={size},mode=700'.encode()) != 0:
            raise OSError(ctypes.get_errno(), 'mount a tmpfs')
        self.addCleanup(LIBC.umount2, os.fsencode(path), 2)
        return path

    def expect_exact_last(self, daemon, pid):
        """The last recording has the process, and all of it."""
        report = self.report(self.recordings(daemon)[-1])
        last = [part for part in report.get('targets', []) if part['pid'] == pid][-1] if 'targets' in report else report
        self.assertTrue(last['exact'])
        self.assertEqual((last['totals']['allocated_count'], last['totals']['live_count']), (500, 250))

    def test_targets_flap_while_the_configuration_is_read_again_and_again(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        before = self.settle(daemon)
        stopped = threading.Event()

        def flap():
            while not stopped.wait(0.1):
                ledger = Ledger('signal', '9')
                ledger.run()
                ledger.end()

        flapping = [threading.Thread(target=flap) for _ in range(3)]
        for thread in flapping:
            thread.start()
        other = f'[target.other]\nexe = "{self.directory}/nothing"\n'
        for number in range(60):
            lines = ('mode = "exact"', 'mode = "off"', 'record-every = "1s"', 'max-processes = 1', 'follow-children = true')[number % 5]
            daemon.write((self.ends(lines) if number % 7 else '') + (other if number % 2 else ''))
            daemon.reload()
        daemon.write(self.ends())
        daemon.reload()
        stopped.set()
        for thread in flapping:
            thread.join()
        self.wait_until_all_have_ended(daemon)
        self.assertEqual(self.settle(daemon), before)
        last = Ledger()
        self.wait_until_traced(daemon, last)
        last.run()
        last.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        self.expect_exact_last(daemon, last.pid)

    def test_a_disk_that_fills_while_a_recording_is_written(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'), heaps=self.tmpfs('64k'))
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        self.until('a recording', lambda: self.recordings(daemon) and self.recordings(daemon)[0].stat().st_size > 0)
        filler = daemon.heaps / 'filler'
        with contextlib.suppress(OSError), open(filler, 'wb', buffering=0) as file:
            while True:
                file.write(b'x' * 4096)
        ledger.run()
        self.until('a message', lambda: 'No space left on device' in daemon.said())
        # Whatever did not fit was taken off again.
        self.assertIn('totals', self.report(self.recordings(daemon)[0]))
        filler.unlink()
        self.until('a message', lambda: 'recorded again' in daemon.said())
        ledger.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        self.expect_exact_last(daemon, ledger.pid)
        self.assertEqual(daemon.said().count('not recorded'), 1)

    def test_a_folder_that_becomes_a_link_keeps_what_lies_there(self):
        daemon = self.daemon(self.ends('record-every = "100ms"\nrecord-file-size = "16K"\nkeep-size = "16K"\nkeep-age = "1s"'))
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        self.until('a recording', lambda: self.recordings(daemon))
        elsewhere = self.directory / 'elsewhere'
        elsewhere.mkdir()
        for name in ('mine.hawk', 'notes.txt', 'webserver.hawk'):
            (elsewhere / name).write_bytes(b'x' * 100000)
            os.utime(elsewhere / name, (1, 1))
        (daemon.heaps / 'web').rename(daemon.heaps / 'before')
        (daemon.heaps / 'web').symlink_to(elsewhere)
        ledger.run()
        ledger.end()
        self.wait_until_all_have_ended(daemon)
        for targets in ('', self.ends('keep-age = "1s"')):
            daemon.write(targets)
            daemon.reload()
        daemon.end()
        for name in ('mine.hawk', 'notes.txt', 'webserver.hawk'):
            self.assertTrue((elsewhere / name).exists(), name)

    def certificate(self):
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj',
                        '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost', '-keyout', self.directory / 'key', '-out',
                        self.directory / 'crt'], check=True, capture_output=True)
        (self.directory / 'token').write_text('a-token-that-nobody-guesses\n')
        for name in ('key', 'token'):
            (self.directory / name).chmod(0o600)

    def test_handshakes_that_never_end_keep_nobody_out(self):
        self.certificate()
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        serve = (f'listen = ["unix:{self.directory}/daemon/socket", "127.0.0.1:{port}"]\ntoken-file = "{self.directory}/token"\n'
                 f'tls-certificate-file = "{self.directory}/crt"\ntls-key-file = "{self.directory}/key"\n')
        daemon = self.daemon(self.ends(), ready=None, serve=serve)
        daemon.wait_for('READY=1')
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        hello = bytes.fromhex('16030100c8010000c40303')
        crowd = []
        for number in range(1000):
            client = socket.socket()
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(('127.0.0.1', port))
            crowd.append(client)
            with contextlib.suppress(OSError):
                client.send(hello[:1 + number % len(hello)])
        context = ssl.create_default_context(cafile=self.directory / 'crt')
        until = time.monotonic() + PATIENCE_S
        answer = b''
        while not answer.startswith(b'HTTP/1.1 200'):
            self.assertLess(time.monotonic(), until, answer)
            with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), 5) as plain:
                with context.wrap_socket(plain, server_hostname='localhost') as client:
                    client.sendall(b'GET /metrics HTTP/1.0\r\nHost: localhost\r\nAuthorization: Bearer a-token-that-nobody-guesses\r\n\r\n')
                    answer = client.recv(4096)
            for client in crowd[::50]:  # a byte now and then
                with contextlib.suppress(OSError):
                    client.send(b'\0')
        for client in crowd:
            client.close()
        self.expect_exact_end(daemon, ledger)

    def test_configurations_of_any_size_are_read_or_refused_at_once(self):
        daemon = self.daemon(self.ends())
        ledger = Ledger()
        daemon.wait_for('tracing 1 of 1')
        for text in (b'# ' + b'x' * (64 << 20), b'[target.a]\ncomm = "' + b'y' * 900000 + b'"\n', b'x = ' + b'[' * 100000,
                     b'\n'.join(b'[target.t%d]\ncomm = "c%d"' % (number, number) for number in range(20000)),
                     b'[daemon]\n' + b'a.' * 200000 + b'b = 1\n', b'\0' * 100000, b'[target.web]\nexe = [' + b'"/*/*/*/*",' * 50000 + b']\n'):
            daemon.config.write_bytes(text)
            began = time.monotonic()
            daemon.reload()
            self.assertLess(time.monotonic() - began, 10, text[:30])
        self.assertLess(len(daemon.said()), 100000)
        self.expect_exact_end(daemon, ledger)

    def test_a_target_that_is_stopped_is_traced_and_left_as_it_was(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        first, second = Ledger(), Ledger()
        daemon.wait_for('tracing 2 of 2')
        for ledger in (first, second):
            os.kill(ledger.pid, signal.SIGSTOP)
        third = Ledger()
        os.kill(third.pid, signal.SIGSTOP)
        self.wait_until_traced(daemon, third)
        daemon.write(self.ends('mode = "off"'))
        daemon.reload()
        self.until('their release', lambda: all(process['state'] != 'traced' for process in self.target(daemon)['processes']))
        self.until('their own code', lambda: not any(changed_code(ledger.pid) for ledger in (first, second, third)))
        daemon.write(self.ends())
        daemon.reload()
        for ledger in (first, second, third):
            self.wait_until_traced(daemon, ledger)
            os.kill(ledger.pid, signal.SIGCONT)
            ledger.run()
            ledger.end()
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        for ledger in (first, second, third):
            self.expect_exact_last(daemon, ledger.pid)

    def test_a_family_that_is_not_traced_any_more_pays_for_no_probes(self):
        """While another one, of the same files, is traced all the time, or is not."""
        follows = 'follow-children = true\n'
        other = f'[target.zoo]\nexe = "{hostile_test.LEDGERS}/growing"\n{follows}'
        daemon = self.daemon(self.ends(follows))
        for beside in ('', other):
            daemon.write(self.ends(follows) + beside)
            daemon.reload()
            with contextlib.ExitStack() as ends:
                if beside:
                    growing = Ledger(program=hostile_test.LEDGERS / 'growing')
                    ends.callback(growing.end)
                    ends.callback(growing.run)
                    daemon.wait_for('tracing 1 of 1')
                ledger = Ledger()
                self.wait_until_traced(daemon, ledger)
                traced = self.at_rest(daemon)
                self.assertTrue(changed_code(ledger.pid))
                for _ in range(3):
                    daemon.write(self.ends(follows + 'mode = "off"') + beside)
                    daemon.reload()
                    self.until('its own code', lambda: not changed_code(ledger.pid))
                    daemon.write(self.ends(follows) + beside)
                    daemon.reload()
                    self.until('a trace', lambda: [process['state'] for process in self.target(daemon)['processes']] == ['traced'])
                    self.assertEqual(self.at_rest(daemon), traced)
                ledger.run()
                ledger.end()
                self.until('its end', lambda: not self.target(daemon)['processes'])
        self.until('all ends', lambda: all(not target['processes'] for target in json.loads(daemon.get('/targets')[1])['targets']))
        daemon.end()
        self.expect_exact_last(daemon, ledger.pid)

    def test_one_program_after_the_other_leaves_nothing_behind(self):
        """300 programs of one process, as fast as they come, which passes its probes on to those that it makes."""
        shell, script = self.directory / 'again', self.directory / 'script'
        shutil.copy('/bin/dash', shell)
        script.write_text(f'n=${{1:-0}}\n[ "$n" -lt 300 ] && exec {shell} "$0" $((n + 1))\nread -r end\n')
        daemon = self.daemon(self.ends() + f'[target.winds]\nexe = "{shell}"\nfollow-children = true\n')
        before = self.settle(daemon)
        storms = [subprocess.Popen([shell, script], stdin=subprocess.PIPE) for _ in range(4)]
        for storm in storms:
            storm.stdin.close()
            self.assertIn(storm.wait(PATIENCE_S), (0, 1))
        self.until('their ends', lambda: not any(target['processes'] for target in json.loads(daemon.get('/targets')[1])['targets']))
        self.assertEqual(daemon.get('/healthz')[0], 200)
        self.assertEqual(self.settle(daemon), before)
        daemon.end()

    def test_a_cgroup_that_is_removed_is_no_loss(self):
        root = next(line.split()[1] for line in pathlib.Path('/proc/self/mounts').read_text().splitlines() if line.split()[2] == 'cgroup2')
        own = next(line[3:] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines() if line.startswith('0::'))
        home = pathlib.Path(root + own.rstrip('/'))
        group = home / f'hawktrace-siege-{os.getpid()}'
        group.mkdir()
        self.addCleanup(lambda: group.exists() and group.rmdir())
        daemon = self.daemon(f'[target.web]\ncgroup = "{own.rstrip("/")}/{group.name}"\nwatch-every = "100ms"\nrecord-every = "100ms"\n')
        ledger = Ledger()
        (group / 'cgroup.procs').write_text(str(ledger.pid))
        daemon.wait_for('tracing 1 of 1')
        (home / 'cgroup.procs').write_text(str(ledger.pid))
        group.rmdir()
        self.assertEqual(daemon.get('/metrics')[0], 200)
        self.expect_exact_end(daemon, ledger)

    def test_fifty_targets_outlive_a_daemon_that_is_killed(self):
        daemon = self.daemon(self.ends('record-every = "100ms"'))
        ledgers = [Ledger() for _ in range(50)]
        daemon.wait_for('tracing 50 of 50')
        for ledger in ledgers[:25]:
            ledger.run()
        self.assertTrue(changed_code(ledgers[0].pid))
        daemon.process.kill()
        daemon.process.wait()
        for ledger in ledgers:
            self.until('its own code', lambda pid=ledger.pid: not changed_code(pid))
        daemon.start()
        daemon.wait_for('tracing 50 of 50')
        for ledger in ledgers[25:]:
            ledger.run()
        for ledger in ledgers:
            ledger.end()
            self.assertEqual(ledger.process.returncode, 0)
        self.wait_until_all_have_ended(daemon)
        daemon.end()
        for ledger in ledgers[25:30]:
            self.expect_exact_last(daemon, ledger.pid)
        self.assertEqual(len(self.recordings(daemon)), 2)
        self.assertEqual(len(self.report(self.recordings(daemon)[1])['targets']), 50)


def load_tests(loader, _tests, _pattern):
    """Of this file alone."""
    own = [name for name in vars(Siege) if name.startswith('test_')]
    return unittest.TestSuite(Siege(name) for name in own)


if __name__ == '__main__':
    hostile_test.LEDGERS = pathlib.Path(sys.argv.pop(2)).resolve()
    hostile_test.HAWKTRACE = os.path.abspath(sys.argv.pop(1))
    unittest.main()

#!/usr/bin/env python3
"""The units under a real systemd, which is booted in namespaces of its own: its own processes, mounts (with its own /tmp, /etc,
/run and /var/lib) and a hierarchy of cgroups below ours.

    service_test.py HAWKTRACE
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HAWKTRACE = ''
PATIENCE_S = 120

BOOT = r'''
set -e
echo 0 > "$1/cgroup.procs"
exec unshare --pid --mount --cgroup --fork --kill-child=KILL sh -e -c '
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir /run/upper /run/work /run/sbin-upper /run/sbin-work /run/host
mount --bind "$1" /run/host
mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc
mount -t overlay overlay -o lowerdir=/usr/sbin,upperdir=/run/sbin-upper,workdir=/run/sbin-work /usr/sbin
mkdir -p /run/memory
mount -t cgroup -o memory memory /run/memory 2>/dev/null || true
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /var/log
mount -t proc proc /proc
umount -R /sys/fs/cgroup || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
touch /usr/sbin/hawktrace
mount --bind "$0" /usr/sbin/hawktrace
rm -rf /etc/systemd/system
mkdir -p /etc/systemd/system /etc/hawktrace
cp /run/host/*.target /run/host/*.service /etc/systemd/system/
container=hawktrace exec /lib/systemd/systemd --system --unit=test.target --log-target=null --show-status=no' "$2" "$3"
'''

CONFIG = '''[daemon]
interval = "100ms"
[serve]
listen = ["unix:/run/hawktrace/hawktrace.sock"]
[target.web]
unit = "web.service"
[target.greedy]
comm = "greedy-python"
'''

# Allocates, and waits for the end.
WEB = '''
import ctypes
libc = ctypes.CDLL(None)
blocks = [libc.malloc(ctypes.c_size_t(1000)) for i in range(1000)]
import signal
signal.pause()
'''

# Allocates without end once it is told to.
GREEDY = '''
import ctypes
open('/run/host/go').read()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
while True:
  block = ctypes.c_void_p(libc.malloc(ctypes.c_size_t(1 << 20)))
  ctypes.memset(block, 1, 1 << 20)
'''


# Starts another program once it is told to.
FAMILY = '''
import subprocess
open('/run/host/start').read()
subprocess.run(['sleep', 'infinity'])
'''

# As systemd-oomd announces what it is about to kill.
ANNOUNCE = r'''
import socket
hook = socket.socket(socket.AF_UNIX)
hook.connect('/run/systemd/oomd.prekill.hook/hawktrace')
hook.sendall(b'{"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":"/system.slice"}}\0')
print(hook.recv(1000))
'''


def unit(*service, description='test'):
    return '\n'.join(['[Unit]', f'Description={description}', 'DefaultDependencies=no', '[Service]', *service, ''])


class Systemd:
    """A systemd that has booted, with the units of the daemon and those of the tests."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory(prefix='hawktrace-service-')
        path = pathlib.Path(self.directory.name)
        self.path = path
        for name in ('hawktrace.service', 'hawktrace@.service'):
            (path / name).write_text((ROOT / 'scripts/systemd' / name).read_text())
        (path / 'web.py').write_text(WEB)
        (path / 'greedy.py').write_text(GREEDY)
        (path / 'family.py').write_text(FAMILY)
        (path / 'family-python').symlink_to('/usr/bin/python3')
        os.mkfifo(path / 'start')
        # It has this name once it is in its cgroup, and not before.
        (path / 'greedy-python').symlink_to('/usr/bin/python3')
        os.mkfifo(path / 'go')
        (path / 'test.target').write_text('[Unit]\nDefaultDependencies=no\nWants=systemd-journald.service\n')
        (path / 'web.service').write_text(unit('ExecStart=/usr/bin/python3 /run/host/web.py'))
        (path / 'family.service').write_text(unit('ExecStart=/run/host/family-python /run/host/family.py'))
        # Where memory is accounted by version 1 of cgroups, systemd's limit has no effect, and the test's group has one.
        (path / 'greedy.service').write_text(unit(
            'MemoryMax=64M', 'MemorySwapMax=0',
            'ExecStartPre=/bin/sh -c "if test -e /run/memory/memory.limit_in_bytes; then mkdir -p /run/memory/hawktrace-greedy; '
            'echo 67108864 > /run/memory/hawktrace-greedy/memory.limit_in_bytes; fi"',
            'ExecStopPost=-/bin/rmdir /run/memory/hawktrace-greedy',
            'ExecStart=/bin/sh -c "if test -e /run/memory/hawktrace-greedy; then echo $$$$ > '
            '/run/memory/hawktrace-greedy/cgroup.procs; fi; exec /run/host/greedy-python /run/host/greedy.py"'))
        self.cgroup = self.make_cgroup()
        self.process = subprocess.Popen(['/bin/sh', '-c', BOOT, 'sh', str(self.cgroup), HAWKTRACE, str(path)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.wait('systemd', lambda: self.init_pid() and self.run('systemctl', 'is-system-running').stdout.strip() in
                  ('running', 'degraded', 'starting') and self.is_active('systemd-journald.service'))

    @staticmethod
    def make_cgroup():
        root = next(line.split()[1] for line in pathlib.Path('/proc/self/mounts').read_text().splitlines()
                    if line.split()[2] == 'cgroup2')
        own = next(line[3:] for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines() if line.startswith('0::'))
        path = pathlib.Path(root + own.rstrip('/')) / f'hawktrace-service-{os.getpid()}'
        path.mkdir()
        return path

    def init_pid(self):
        procs = self.cgroup / 'init.scope/cgroup.procs'
        return procs.read_text().split()[0] if procs.exists() and procs.read_text() else None

    def run(self, *words):
        """A command beside systemd."""
        return subprocess.run(['nsenter', f'--target={self.init_pid()}', '--pid', '--mount', '--cgroup', *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

    def do(self, *words):
        done = self.run(*words)
        if done.returncode != 0:
            raise AssertionError(f'{" ".join(words)}: {done.stdout}\n{self.journal("-u", "hawktrace*")}')
        return done.stdout

    def write(self, path, text):
        (self.path / 'new').write_text(text)
        self.do('cp', '/run/host/new', path)

    def is_active(self, name):
        return self.run('systemctl', 'is-active', name).stdout.strip() == 'active'

    def property(self, name, of='hawktrace.service'):
        return self.do('systemctl', 'show', '--value', '-p', name, of).strip()

    def journal(self, *words, output='cat'):
        self.run('journalctl', '--sync')  # what has been sent may not have been written
        return self.run('journalctl', '--no-pager', '-o', output, *words).stdout

    def wait(self, what, condition):
        """systemd announces none of this to those who are outside."""
        until = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until or self.process.poll() is not None:
                raise AssertionError(f'{what}: waited in vain\n{self.journal() if self.init_pid() else self.process.stderr.read()}')
            time.sleep(0.1)

    def wait_for_status(self, text):
        self.wait(text, lambda: text in self.property('StatusText'))

    def end(self):
        (self.cgroup / 'cgroup.kill').write_text('1')
        self.process.wait()
        # A kill of a cgroup does not wait for the ends.
        while 'populated 1' in (self.cgroup / 'cgroup.events').read_text():
            time.sleep(0.1)
        for path in sorted(self.cgroup.rglob('*'), reverse=True):
            if path.is_dir():
                path.rmdir()
        self.cgroup.rmdir()
        self.process.stderr.close()
        self.directory.cleanup()


class Service(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.systemd = Systemd()

    @classmethod
    def tearDownClass(cls):
        cls.systemd.end()

    def setUp(self):
        self.systemd.write('/etc/hawktrace/hawktrace.toml', CONFIG)
        self.systemd.do('sh', '-c', 'rm -rf /var/lib/hawktrace')
        self.systemd.do('systemctl', 'start', 'hawktrace.service')

    def tearDown(self):
        for name in ('web', 'greedy', 'family', 'hawktrace'):
            self.systemd.run('systemctl', 'stop', f'{name}.service')
        self.systemd.run('systemctl', 'reset-failed')

    def recordings(self, target):
        return self.systemd.run('sh', '-c', f'ls /var/lib/hawktrace/{target}/*.hawk').stdout.split()

    def test_units_are_well_formed(self):
        said = self.systemd.do('systemd-analyze', 'verify', '--man=no', '/etc/systemd/system/hawktrace.service',
                               '/etc/systemd/system/hawktrace@web.service')
        self.assertNotIn('hawktrace', said)

    def test_exposure_is_small(self):
        for name in ('hawktrace.service', 'hawktrace@.service'):
            self.systemd.do('systemd-analyze', 'security', '--offline=true', '--threshold=40', '--no-pager',
                            f'/etc/systemd/system/{name}')

    def test_a_traced_service_is_restarted(self):
        self.systemd.do('systemctl', 'start', 'web.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        self.systemd.do('systemctl', 'stop', 'web.service')
        self.systemd.wait_for_status('tracing 0 of 0 processes')
        self.systemd.do('systemctl', 'start', 'web.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        self.assertIn('was killed by SIGTERM', self.systemd.journal('HAWKTRACE_TARGET=web'))

    def test_its_configuration_is_read_again(self):
        self.systemd.do('systemctl', 'start', 'web.service')
        self.systemd.wait_for_status('of 2 targets')
        self.systemd.write('/etc/hawktrace/hawktrace.toml', CONFIG + '[target.other]\ncomm = "nobody-has-it"\n')
        self.systemd.do('systemctl', 'reload', 'hawktrace.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes of 3 targets')
        self.systemd.write('/etc/hawktrace/hawktrace.toml', CONFIG + '[target.other]\nwrong = 1\n')
        self.assertNotEqual(self.systemd.run('systemctl', 'reload', 'hawktrace.service').returncode, 0)
        self.assertTrue(self.systemd.is_active('hawktrace.service'))
        self.assertEqual(self.systemd.property('NRestarts'), '0')

    def test_it_is_killed_and_restarted_when_it_stalls(self):
        self.systemd.do('systemctl', 'stop', 'hawktrace.service')
        self.systemd.do('mkdir', '-p', '/run/systemd/system/hawktrace.service.d')
        self.systemd.write('/run/systemd/system/hawktrace.service.d/test.conf',
                           '[Service]\nWatchdogSec=5s\nRestartSec=100ms\n')
        self.systemd.do('systemctl', 'daemon-reload')
        self.systemd.do('systemctl', 'start', 'hawktrace.service', 'web.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        restarts = int(self.systemd.property('NRestarts'))  # one is that of a machine which has stalled
        self.systemd.do('kill', '-STOP', self.systemd.property('MainPID'))
        self.systemd.wait('a restart', lambda: int(self.systemd.property('NRestarts')) > restarts)
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        self.systemd.do('rm', '-r', '/run/systemd/system/hawktrace.service.d')
        self.systemd.do('systemctl', 'daemon-reload')

    def test_the_last_state_of_a_service_without_memory_is_on_the_disk(self):
        self.systemd.do('systemctl', 'start', 'greedy.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        (self.systemd.path / 'go').write_text('go')
        self.systemd.wait('its end', lambda: not self.systemd.is_active('greedy.service'))
        self.systemd.wait_for_status('tracing 0 of 0 processes')
        entries = self.systemd.journal('HAWKTRACE_TARGET=greedy', 'HAWKTRACE_END=oom', output='json').splitlines()
        self.assertEqual(len(entries), 1, self.systemd.journal())
        entry = json.loads(entries[0])
        self.assertIn('was killed for lack of memory', entry['MESSAGE'])
        self.assertEqual(entry['PRIORITY'], '4')
        self.assertEqual([entry['HAWKTRACE_FILE']], self.recordings('greedy'))
        report = json.loads(self.systemd.do('hawktrace', 'report', '-q', '--format', 'json', entry['HAWKTRACE_FILE']))
        self.assertGreater(report['totals']['live_bytes'], 32 << 20)

    def test_what_a_service_starts_is_followed(self):
        """With no more rights than the unit gives it."""
        self.systemd.write('/etc/hawktrace/hawktrace.toml', CONFIG + '[target.family]\ncomm = "family-python"\nfollow-children = true\n')
        self.systemd.do('systemctl', 'restart', 'hawktrace.service')
        self.systemd.do('systemctl', 'start', 'family.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes of 3 targets')
        (self.systemd.path / 'start').write_text('start')
        self.systemd.wait_for_status('tracing 2 of 2 processes of 3 targets')
        self.systemd.do('systemctl', 'stop', 'family.service')
        self.systemd.wait_for_status('tracing 0 of 0 processes')
        self.assertEqual(len(self.recordings('family')), 1)

    def test_it_is_told_whom_systemd_oomd_is_about_to_kill(self):
        self.systemd.do('systemctl', 'start', 'web.service')
        self.systemd.wait_for_status('tracing 1 of 1 processes')
        self.assertIn('{"parameters":{}}', self.systemd.do('python3', '-c', ANNOUNCE))
        self.assertIn('systemd-oomd is about to kill 1 of its processes', self.systemd.journal('-u', 'hawktrace.service'))
        self.assertEqual(len(self.recordings('web')), 1)
        self.systemd.do('systemctl', 'kill', '-s', 'KILL', 'web.service')
        self.systemd.wait_for_status('tracing 0 of 0 processes')
        self.assertIn('was killed for lack of memory', self.systemd.journal('HAWKTRACE_TARGET=web', 'HAWKTRACE_END=oom'))

    def test_one_unit_needs_no_configuration(self):
        self.systemd.do('systemctl', 'stop', 'hawktrace.service')
        self.systemd.do('rm', '/etc/hawktrace/hawktrace.toml')
        self.systemd.do('systemctl', 'start', 'web.service', 'hawktrace@web.service')
        self.systemd.wait('a trace', lambda: 'tracing 1 of 1' in
                          self.systemd.property('StatusText', 'hawktrace@web.service'))
        self.systemd.do('systemctl', 'stop', 'hawktrace@web.service')
        self.assertEqual(len(self.recordings('web')), 1)


if __name__ == '__main__':
    HAWKTRACE = os.path.abspath(sys.argv.pop(1))
    unittest.main()

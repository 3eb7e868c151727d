#!/usr/bin/env python3
"""What the daemon costs: watching 100 processes, and tracing 10 targets with 2,000 stacks each.

    sudo scripts/benchmarks/daemon.py [HAWKTRACE] [SECONDS]
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LEDGERS = ROOT / 'tests/kernel/ledgers'
TICKS = os.sysconf('SC_CLK_TCK')


def processes_of(pid):
    """The daemon, and the processes that read files for it."""
    children = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text().split()
    return [pid] + [int(child) for child in children]


def cpu_s(pid):
    ticks = 0
    for each in processes_of(pid):
        fields = pathlib.Path(f'/proc/{each}/stat').read_text().rsplit(')', 1)[1].split()
        ticks += sum(int(field) for field in fields[11:15])
    return ticks / TICKS


def resident_mib(pid):
    pages = sum(int(pathlib.Path(f'/proc/{each}/statm').read_text().split()[1]) for each in processes_of(pid))
    return pages * os.sysconf('SC_PAGE_SIZE') / (1 << 20)


class Daemon:
    def __init__(self, hawktrace, directory, targets):
        (directory / 'hawktrace.toml').write_text(
            f'[daemon]\ndirectory = "{directory}/heaps"\n[serve]\nlisten = ["unix:{directory}/socket"]\n{targets}')
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(f'{directory}/notify')
        self.process = subprocess.Popen([hawktrace, 'daemon', '--config', f'{directory}/hawktrace.toml', '--quiet'],
                                        env={**os.environ, 'NOTIFY_SOCKET': f'{directory}/notify'})

    def wait_for(self, text):
        while text not in self.manager.recv(4096).decode():
            pass

    def measure(self, seconds):
        """CPU time in per cent of one processor, and resident memory."""
        before, began = cpu_s(self.process.pid), time.monotonic()
        time.sleep(seconds)
        return (cpu_s(self.process.pid) - before) / (time.monotonic() - began) * 100, resident_mib(self.process.pid)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.manager.close()


def watch(hawktrace, directory, seconds):
    program = directory / 'sleeper'  # others sleep as well
    shutil.copy('/bin/sleep', program)
    sleepers = [subprocess.Popen([program, 'infinity']) for _ in range(100)]
    daemon = Daemon(hawktrace, directory, f'[target.sleepers]\nexe = "{program}"\nmode = "watch"\n')
    daemon.wait_for('of 100 processes')
    time.sleep(5)  # processes are looked at more often while they are young
    result = daemon.measure(seconds)
    daemon.end()
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()
    return result


def trace(hawktrace, directory, seconds):
    program = directory / 'stacks'
    subprocess.run(['cc', '-O2', '-fno-omit-frame-pointer', '-fno-builtin', '-fno-optimize-sibling-calls', '-pthread',
                    '-DLEDGER_STACKS=2000', '-DLEDGER_DIGITS=4', f'{LEDGERS}/distinct_stacks.c', '-o', str(program)], check=True)
    targets = ''
    for i in range(10):
        os.link(program, directory / f'stacks{i}')
        targets += f'[target.stacks{i}]\nexe = "{directory}/stacks{i}"\n'
    daemon = Daemon(hawktrace, directory, targets)
    daemon.wait_for('READY=1')
    programs = [subprocess.Popen([str(directory / f'stacks{i}')], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                for i in range(10)]
    daemon.wait_for('tracing 10 of 10')
    for each in programs:
        each.stdin.write('g')
        each.stdin.flush()
    for each in programs:
        while each.stdout.readline().strip() != 'done':
            pass
    time.sleep(3)
    result = daemon.measure(seconds)
    for each in programs:
        each.stdin.close()
        each.wait()
    daemon.end()
    return result


def main():
    hawktrace = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / 'build/release/hawktrace')
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 60
    for what, run in (('watching 100 processes', watch), ('tracing 10 targets with 2,000 stacks each', trace)):
        with tempfile.TemporaryDirectory() as directory:
            cpu, memory = run(hawktrace, pathlib.Path(directory), seconds)
            print(f'{what}: {cpu:.2f} % of one processor, {memory:.0f} MiB resident')


if __name__ == '__main__':
    main()

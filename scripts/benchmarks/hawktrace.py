"""hawktrace under measurement: running it, what this one can do, and the memory it takes."""
import contextlib
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import tempfile
import time

from benchmarks.common import Unmeasured, time_bound

# What an idle libc still allocates beside the counted calls: buffers of stdio, thread descriptors, start-up of a thread.
FEW = 500


class Abilities:
    """What the measured hawktrace understands, from its own --help."""

    def __init__(self, program):
        self.help = subprocess.run([program, '--help'], capture_output=True, text=True, timeout=20, check=True).stdout
        self.version = subprocess.run([program, '--version'], capture_output=True, text=True, timeout=20,
                                      check=True).stdout.strip()

    def knows(self, option):
        return re.search(rf'^\s+(-\w,)?{option}\b', self.help, re.M) is not None


class Hawktrace:
    """hawktrace on a process. The probes are in place once the object is made; stop() takes them away."""

    def __init__(self, program, pid, *options, terminal=None, cgroup=None):
        self.errors = tempfile.TemporaryFile('w+')
        ready, ready_writer = os.pipe()
        command = [str(program), '-p', str(pid), '--ready-fd', str(ready_writer), *options]
        if cgroup:
            command = ['/bin/sh', '-c', 'echo $$ >"$0" && exec "$@"', str(cgroup.processes), *command]
        began = time.monotonic()
        self.process = subprocess.Popen(command, pass_fds=[ready_writer], stderr=self.errors, env={**os.environ, 'TERM': 'xterm'},
                                        stdin=subprocess.DEVNULL if terminal is None else terminal,
                                        stdout=subprocess.DEVNULL if terminal is None else terminal)
        os.close(ready_writer)
        is_ready = select.select([ready], [], [], min(60, time_bound.left()))[0] and os.read(ready, 1)
        self.attach_ms = (time.monotonic() - began) * 1e3
        os.close(ready)
        if not is_ready:
            self.process.kill()
            self.process.wait()
            raise Unmeasured(f'hawktrace did not start tracing: {self.error_text()}')

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read().strip()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        self.errors.close()

    def stop(self, interrupt=True):
        """Ctrl-C, or just waiting where the target is gone already. Returns the milliseconds until it has ended, and its
        greatest resident size ever in MiB."""
        began = time.monotonic()
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        # wait4 knows no time-out.
        while (ended := os.wait4(self.process.pid, os.WNOHANG))[0] == 0:
            time_bound.left()
            time.sleep(0.0005)
        _, status, usage = ended
        took_ms = (time.monotonic() - began) * 1e3
        self.process.returncode = os.waitstatus_to_exitcode(status)
        if self.process.returncode != 0:
            raise Unmeasured(f'hawktrace ended with {self.process.returncode}: {self.error_text()}')
        return took_ms, usage.ru_maxrss / 1024

    def cpu_seconds(self):
        """To the nanosecond, and with the threads that have ended. What /proc/PID/stat tells is sampled by the tick, which
        short work goes between."""
        # As clock_getcpuclockid(3) makes the clock of a process (kernel: CPUCLOCK_SCHED).
        return time.clock_gettime(~self.process.pid << 3 | 2)

    def status_mib(self, field):
        text = pathlib.Path(f'/proc/{self.process.pid}/status').read_text(encoding='utf-8')
        return int(re.search(rf'^{field}:\s+(\d+) kB', text, re.M).group(1)) / 1024


class Reporting:
    """hawktrace that writes a JSON report. finish() stops it, and makes sure that it did the work, exactly."""

    def __init__(self, bench, pid, *options, cgroup=None, program=None):
        self._file = tempfile.NamedTemporaryFile('r')
        self.tracer = Hawktrace(program or bench.hawktrace, pid, '--format', 'json', '--top', '1', '--sort', 'allocated-count',
                                '-o', self._file.name, *options, cgroup=cgroup)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.tracer.__exit__()
        self._file.close()

    def finish(self, expected, is_minimum=False, target_ended=False):
        """`expected` allocations, or at least as many. Returns the report."""
        self.tracer.stop(interrupt=not target_ended)
        report = json.loads(pathlib.Path(self._file.name).read_text(encoding='utf-8'))
        seen = report['totals']['allocated_count']
        if not report['exact']:
            losses = ', '.join(f'{name} {count:,}' for name, count in report['losses'].items() if count)
            raise Unmeasured(f'hawktrace was not exact: {losses}')
        if seen < expected or (not is_minimum and seen > expected * 1.001 + FEW):
            raise Unmeasured(f'hawktrace saw {seen:,} allocations of {expected:,.0f}')
        return report


# The functions that return nothing a tracer waits for; all others trap at their return too.
FREES = re.compile(r'c?free$|free_sized$|free_aligned_sized$|s?dallocx$|operator delete|_Zd')


def probe_arguments(report):
    """What bench_floor_tracer takes to probe the functions that hawktrace says in `report` that it probed."""
    arguments = []
    for allocator in report['target']['allocators']:
        for function in allocator['functions']:
            is_free = FREES.match(function['name'])
            kind, offset = ('free', 'file_offset') if is_free else ('call', 'probe_offset')
            arguments.append(f'{kind}:{function[offset]}:{allocator["path"]}')
    if not arguments:
        raise Unmeasured('hawktrace names no probes')
    return arguments


# ------------------------------------------------------------------------------------------------------------- memory

class Cgroup:
    """A memory cgroup below our own, for hawktrace alone: what the kernel holds for its maps is charged to it, a BPF
    arena's pages included, which no file in /proc tells."""

    def __init__(self):
        self.directory, self._usage, self._cache = self._make()
        self.processes = self.directory / 'cgroup.procs'

    @staticmethod
    def _make():
        own = {}
        for line in pathlib.Path('/proc/self/cgroup').read_text(encoding='utf-8').splitlines():
            _, controllers, path = line.split(':', 2)
            own[controllers] = path
        name = f'hawktrace-bench-{os.getpid()}'
        for mount in pathlib.Path('/proc/mounts').read_text(encoding='utf-8').splitlines():
            _, point, kind, flags, *_ = mount.split()
            if kind == 'cgroup' and 'memory' in flags.split(','):
                directory = pathlib.Path(point + own.get('memory', '/')) / name
                files = 'memory.usage_in_bytes', 'cache'
            elif kind == 'cgroup2':
                # Version 2 has no controllers below a group with processes of its own: beside it.
                directory = (pathlib.Path(point + own.get('', '/')).parent if own.get('', '/') != '/'
                             else pathlib.Path(point)) / name
                files = 'memory.current', 'file'
            else:
                continue
            with contextlib.suppress(OSError):
                directory.mkdir()
                if (directory / files[0]).exists():
                    return directory, *files
                directory.rmdir()
        raise Unmeasured('no memory cgroup can be made here')

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        # The kernel frees what the maps held some time after the last process is gone.
        for _ in range(50):
            try:
                self.directory.rmdir()
                return
            except OSError:
                time.sleep(0.1)

    def bytes_without_files(self):
        """All that is charged, but for the page cache of files."""
        cache = re.search(rf'^{self._cache} (\d+)', (self.directory / 'memory.stat').read_text(encoding='utf-8'), re.M)
        return int((self.directory / self._usage).read_text(encoding='utf-8')) - int(cache.group(1))


def resident_by_mapping(pid):
    """Bytes of resident anonymous memory, of files, and of mapped BPF maps."""
    sums = {'anonymous': 0, 'files': 0, 'maps': 0}
    kind = 'files'
    for line in pathlib.Path(f'/proc/{pid}/smaps').read_text(encoding='utf-8').splitlines():
        if re.match(r'[0-9a-f]+-[0-9a-f]+ ', line):
            kind = 'maps' if 'bpf-map' in line or 'bpf_arena' in line else 'files'
        elif line.startswith('Rss:'):
            resident = int(line.split()[1]) * 1024
        elif line.startswith('Anonymous:'):
            anonymous = int(line.split()[1]) * 1024
            sums['anonymous'] += anonymous
            sums[kind] += resident - anonymous
    return sums


def locked_by_maps(pid):
    """What the kernel says that the process' maps take: nothing for an arena."""
    maps = {}
    for entry in pathlib.Path(f'/proc/{pid}/fdinfo').iterdir():
        with contextlib.suppress(OSError):
            fields = dict(line.split(':', 1) for line in entry.read_text(encoding='utf-8').splitlines() if ':' in line)
            if 'map_id' in fields and 'memlock' in fields:
                maps[fields['map_id'].strip()] = int(fields['memlock'])
    return sum(maps.values())


def available_bytes():
    """What the machine has left for programs."""
    text = pathlib.Path('/proc/meminfo').read_text(encoding='utf-8')
    return int(re.search(r'^MemAvailable:\s+(\d+) kB', text, re.M).group(1)) * 1024


def memory_of(tracer, cgroup):
    """Bytes of kernel and user memory for a running hawktrace, each page once: what is charged to its cgroup (its own
    memory, page tables, maps, arena), and its code, which is charged to the process that read the file first. Pages of maps that
    it has mapped are resident for it too, and not added again."""
    resident = resident_by_mapping(tracer.process.pid)
    total = cgroup.bytes_without_files() + resident['files']
    return {'total': total, 'user': resident['anonymous'] + resident['files'],
            'kernel': total - resident['anonymous'] - resident['files'],
            'mapped_maps': resident['maps'], 'memlock': locked_by_maps(tracer.process.pid)}

"""Peers that a process has to be started with: heaptrack, gperftools, jemalloc, massif."""
import pathlib
import re
import tempfile

from benchmarks.column import Column
from benchmarks.common import Program, Unmeasured, find_library, find_program


class Launched:
    """A program that runs under a peer. `prefix` comes before its command; finish() follows its end."""

    def __init__(self, column, command):
        self._directory = tempfile.TemporaryDirectory(prefix='hawktrace-bench-')
        self.directory = pathlib.Path(self._directory.name)
        self._column = column
        prefix, environment = column.preparation(self.directory)
        self.program = Program([*prefix, *command], environment)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.program.__exit__(*exception)
        self._directory.cleanup()

    def finish(self, expected, is_minimum=False):
        """To be called when the program is about to end."""
        self.program.finish()
        seen = self._column.allocations_seen(self.program.said(), self.directory)
        wanted = self._column.wanted(expected)
        if seen is None or seen < wanted:
            raise Unmeasured(f'{self._column.key} saw {"nothing" if seen is None else seen} of {expected:,.0f} allocations')


def highest(pattern, texts):
    """The greatest number that a pattern finds in any of the texts; None without any."""
    return max((int(number) for text in texts for number in re.findall(pattern, text)), default=None)


def contents(directory, pattern):
    return (path.read_text(encoding='utf-8', errors='replace') for path in directory.glob(pattern))


class Heaptrack(Column):
    """With its own script: heaptrack_interpret runs beside the program, as for every user."""
    launches = True

    def __init__(self):
        super().__init__('heaptrack', 'heaptrack (preloaded)', 350)
        self._program = find_program('heaptrack')
        if not self._program:
            self.why_not = 'heaptrack is not installed'

    def cost_at(self, frames):
        return self.cost_ns * (1 + frames / 10)

    def preparation(self, directory):
        return [self._program, '-o', directory / 'trace'], {}

    def allocations_seen(self, said, _directory):
        return highest(r'(?m)^\s*allocations:\s+(\d+)', [said])

    def wanted(self, expected):
        return expected


class Gperftools(Column):
    launches = True

    def __init__(self):
        super().__init__('gperftools', 'gperftools heap profiler (preloaded)', 9000)
        self._library = find_library('libtcmalloc.so.4')
        if not self._library:
            self.why_not = 'libtcmalloc.so.4 is not installed'

    def cost_at(self, frames):
        return self.cost_ns * (1 + frames / 25)

    def preparation(self, directory):
        return [], {'LD_PRELOAD': str(self._library), 'HEAPPROFILE': str(directory / 'heap')}

    def allocations_seen(self, _said, directory):
        return highest(r'heap profile: +\d+: +\d+ \[ *(\d+):', contents(directory, 'heap.*.heap'))

    def wanted(self, expected):
        return expected


class Jemalloc(Column):
    """It samples: an allocation per half a MiB on average. So it is enough to see some."""
    launches = True

    def __init__(self):
        super().__init__('jemalloc', 'jemalloc sampling (preloaded)', 20)
        self._library = find_library('libjemalloc.so.2')
        if not self._library:
            self.why_not = 'libjemalloc.so.2 is not installed'
        elif b'opt.prof_final' not in self._library.read_bytes():
            self.why_not = 'the installed libjemalloc.so.2 is built without profiling'

    def preparation(self, directory):
        options = f'prof:true,prof_accum:true,prof_final:true,prof_prefix:{directory / "heap"}'
        return [], {'LD_PRELOAD': str(self._library), 'MALLOC_CONF': options}

    def allocations_seen(self, _said, directory):
        return highest(r't\*: \d+: \d+ \[(\d+):', contents(directory, 'heap.*.f.heap'))

    def wanted(self, _expected):
        return 1


class Massif(Column):
    launches = True

    def __init__(self):
        super().__init__('massif', 'valgrind massif', 2500)
        self._program = find_program('valgrind')
        if not self._program:
            self.why_not = 'valgrind is not installed'

    def preparation(self, directory):
        return [self._program, '--tool=massif', '--stats=yes', f'--massif-out-file={directory / "massif"}'], {}

    def allocations_seen(self, said, directory):
        if not any('mem_heap_B=' in text for text in contents(directory, 'massif')):
            return None
        return sum(int(count) for count in re.findall(r'Massif: heap (?:re)?allocs:\s+(\d+)', said))

    def wanted(self, expected):
        return expected


def all_columns():
    return [Heaptrack(), Gperftools(), Jemalloc(), Massif()]

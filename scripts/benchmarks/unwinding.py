"""What unwind tables cost: to read them, to attach to a process with much code, and how often the kernel's cache of rules
knows an address."""
import contextlib
import errno
import json
import os
import pathlib
import pwd
import shlex
import shutil
import struct
import subprocess
import tempfile
import time

from benchmarks.common import Program, Unmeasured, find_library, find_program, last_line, time_bound
from benchmarks.hawktrace import Hawktrace
from benchmarks.itself import measure_attaching

ROWS = ['unwind tables', 'attach to code', 'cache hits']
CODE_BYTES = 200_000_000
EXECUTABLE_SECTION = 4  # SHF_EXECINSTR
# A generated library has as many rows for its code as libLLVM has: one for some 55 bytes.
GENERATED_BYTES = 32_000_000
FUNCTION_BYTES = 384
FUNCTIONS = '''\
.text
.rept {count}
.p2align 4
.cfi_startproc
push %rbp
.cfi_adjust_cfa_offset 8
.cfi_rel_offset %rbp, 0
push %rbx
.cfi_adjust_cfa_offset 8
.cfi_rel_offset %rbx, 0
sub ${frame}, %rsp
.cfi_adjust_cfa_offset {frame}
.skip 360, 0x90
add ${frame}, %rsp
.cfi_adjust_cfa_offset -{frame}
pop %rbx
.cfi_adjust_cfa_offset -8
pop %rbp
.cfi_adjust_cfa_offset -8
ret
.cfi_endproc
.endr
'''


# -------------------------------------------------------------------------------------------------------------- tables

def measure_tables(bench):
    for name, pattern in (('libc', 'libc.so.6'), ('libLLVM-19', 'libLLVM*19*')):
        with bench.trying(f'unwind tables of {name}'):
            path = find_library(pattern)
            if not path:
                raise Unmeasured(f'{name} is not installed')
            for _ in range(bench.long_rounds):
                with Program([bench.programs / 'bench_unwind_tables', path]) as reader:
                    milliseconds, rows, row_bytes = reader.answer()
                bench.add(f'tables, {name}', milliseconds)
                bench.add(f'rows, {name}', rows)
                bench.add('row bytes', row_bytes)


# -------------------------------------------------------------------------------------------------------- much code

def code_bytes(path):
    """Bytes of a library's sections of instructions, 0 for what is none. Its executable segment may be twice as large, with
    tables and constants in it."""
    with open(path, 'rb') as file:
        head = file.read(64)
        if len(head) < 64 or head[:6] != b'\x7fELF\x02\x01':
            return 0
        table, = struct.unpack_from('<Q', head, 40)
        size, count = struct.unpack_from('<HH', head, 58)
        file.seek(table)
        sections = [struct.unpack('<IIQQQQIIQQ', file.read(size)) for _ in range(count)]
    return sum(section[5] for section in sections if section[2] & EXECUTABLE_SECTION)


def large_libraries(wanted):
    """Installed libraries with that much code together, the largest first; fewer where there are no more."""
    paths = {path.resolve() for directory in ('/usr/lib', '/usr/lib/x86_64-linux-gnu')
             for path in pathlib.Path(directory).glob('*.so*') if path.is_file() and path.stat().st_size > 8 << 20}
    chosen, total = [], 0
    for size, path in sorted(((code_bytes(path), path) for path in paths), reverse=True):
        if total >= wanted or size < 4_000_000:
            break
        chosen.append(path)
        total += size
    return chosen, total


def generate_library(directory, number):
    """A library of functions that do nothing, each with a frame and rows of its own."""
    compiler = find_program('gcc', 'clang-19')
    if not compiler:
        raise Unmeasured('gcc is not installed')
    source = directory / f'code{number}.s'
    # Frames of different sizes, so that no two libraries are the same file.
    source.write_text(FUNCTIONS.format(count=GENERATED_BYTES // FUNCTION_BYTES, frame=24 + 16 * number), encoding='utf-8')
    subprocess.run([compiler, '-shared', '-nostdlib', '-Wl,--build-id=sha1', source, '-o', source.with_suffix('.so')],
                   check=True, timeout=time_bound.left())
    source.unlink()
    return source.with_suffix('.so')


def measure_code(bench):
    wanted = CODE_BYTES // 10 if bench.quick else CODE_BYTES
    with tempfile.TemporaryDirectory(prefix='hawktrace-bench-') as directory, time_bound.of(90):
        libraries, total = large_libraries(wanted)
        number = 0
        while total < wanted:
            libraries.append(generate_library(pathlib.Path(directory), number))
            total += code_bytes(libraries[-1])
            number += 1
        with Program([bench.programs / 'bench_code', *libraries]) as target:
            bench.add('code MB', total / 1e6)
            bench.add('mapped MB', target.answer()[0] / 1e6)
            bench.add('code libraries', len(libraries))
            measure_attaching(bench, target, ', code', bench.long_rounds + 1)


# --------------------------------------------------------------------------------------------------------- cache hits

class Walks:
    """What hawktrace reports of its walks: how many frames, and how many of them the cache did not know."""

    def __init__(self, path):
        report = json.loads(pathlib.Path(path).read_text(encoding='utf-8'))
        if 'cache_misses' not in report.get('unwinding', {}):
            raise Unmeasured('hawktrace does not tell of its cache')
        self.misses = report['unwinding']['cache_misses']
        self.frames = sum(stack['allocated_count'] * sum(not frame['inlined'] for frame in stack['frames'])
                          for stack in report['stacks'])


@contextlib.contextmanager
def walks_of(bench, pid, target_ends=False):
    """Traces a process meanwhile; gives a list that has its Walks in the end."""
    found = []
    with tempfile.NamedTemporaryFile('r') as file:
        with Hawktrace(bench.hawktrace, pid, '--format', 'json', '--top', '0', '-o', file.name) as tracer:
            yield found
            tracer.stop(interrupt=not target_ends)
        found.append(Walks(file.name))


def record_hits(bench, name, once, twice):
    """Percent of frames that the cache knew while the same work was done once more."""
    frames = twice.frames - once.frames
    if frames < 10_000:
        raise Unmeasured(f'only {frames:,} frames were walked after the warm-up')
    bench.add(f'hits, {name}', 100 * (1 - (twice.misses - once.misses) / frames))
    bench.add(f'frames, {name}', frames)


def clang_command():
    """clang's compiler proper, without its last word: the file."""
    driver = find_program('clang++-19', 'clang++')
    if not driver:
        raise Unmeasured('clang++ is not installed')
    source = pathlib.Path(__file__).resolve().parent.parent.parent / 'tests' / 'bench' / 'compiled.cpp'
    output = subprocess.run([driver, '-###', '-std=c++20', '-DSMALL', '-fsyntax-only', source], capture_output=True,
                          text=True, timeout=20, check=False).stderr
    for line in output.splitlines():
        words = shlex.split(line) if '"-cc1"' in line else []
        if words and words[-1] == str(source):
            return words[:-1], words[-1]
    raise Unmeasured('clang++ does not tell how it compiles')


@contextlib.contextmanager
def opened_by(program, fifo):
    """The other end of a pipe that a program opens to read, from when it has."""
    descriptor = None
    while descriptor is None:
        try:
            descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time_bound.left()
            if program.process.poll() is not None:
                raise Unmeasured(f'{program.name} ended too early: {last_line(program.said())}') from error
            time.sleep(0.01)
    try:
        yield
    finally:
        os.close(descriptor)


def clang_walks(bench, times):
    """Of a clang that waits for its first file, as a backend does for its first query: an empty one, then these."""
    command, source = clang_command()
    with tempfile.TemporaryDirectory(prefix='hawktrace-bench-') as directory:
        first = os.path.join(directory, 'first.cpp')
        os.mkfifo(first)
        with Program([*command, first, *[source] * times]) as clang, contextlib.ExitStack() as waits:
            waits.enter_context(opened_by(clang, first))
            with walks_of(bench, clang.pid, target_ends=True) as walks:
                waits.close()
                if clang.finish() != 0:
                    raise Unmeasured(f'clang++ does not compile: {last_line(clang.said())}')
    return walks[0]


class Postgres:
    """A server of one's own with an empty database, on a socket in its directory, and the way into it."""

    def __init__(self):
        programs = sorted(pathlib.Path('/usr/lib/postgresql').glob('*/bin/postgres'))
        self._psql = find_program('psql')
        if not programs or not self._psql:
            raise Unmeasured('postgresql is not installed')
        self._programs = programs[-1].parent
        self._directory = tempfile.TemporaryDirectory(prefix='hawktrace-bench-')
        self._path = pathlib.Path(self._directory.name)
        self._server = None

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        # It refuses to run as root.
        user = next(entry for entry in map(self._entry, ('postgres', 'nobody')) if entry)
        shutil.chown(self._path, user.pw_uid, user.pw_gid)
        as_user = {'user': user.pw_uid, 'group': user.pw_gid, 'extra_groups': [], 'cwd': self._path,
                   'stdin': subprocess.DEVNULL}
        data = self._path / 'data'
        make = [self._programs / 'initdb', '-D', data, '-U', 'bench', '--auth=trust', '--no-sync', '--no-locale']
        done = subprocess.run(make, capture_output=True, text=True, timeout=time_bound.left(), check=False, **as_user)
        if done.returncode != 0:
            raise Unmeasured(f'initdb fails: {last_line(done.stderr)}')
        self._server = subprocess.Popen([self._programs / 'postgres', '-D', data, '-k', self._path, '-h', '', '-F'],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **as_user)
        while subprocess.run([self._psql, *self._where(), '-c', 'select 1'], capture_output=True, check=False).returncode:
            time_bound.left()
            if self._server.poll() is not None:
                raise Unmeasured('postgres does not start')
            time.sleep(0.05)

    @staticmethod
    def _entry(name):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
        return None

    def _where(self):
        return ['-XqAt', '-h', str(self._path), '-U', 'bench', '-d', 'postgres']

    def client(self):
        return Program([self._psql, *self._where()])

    def __exit__(self, *exception):
        if self._server:
            self._server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._server.wait(10)
            if self._server.poll() is None:
                self._server.kill()
                self._server.wait()
        self._directory.cleanup()


# A bit of everything that a server does: it parses, plans, joins, sorts, aggregates, runs procedures.
SQL = [
    'create temp table t(id int primary key, name text, value numeric, made timestamp);',
    "insert into t select i, 'name ' || i % 97, i * 1.5, now() from generate_series(1, 2000) i;",
    'create index on t(name, value); analyze t;',
    "select '- ' || count(*) from t a join t b on a.id = b.id + 1 where a.name like 'name 1%';",
    "select '- ' || max(c) from (select name, count(*) c, string_agg(id::text, ',' order by value) from t group by name) x;",
    "select '- ' || length(jsonb_agg(to_jsonb(t))::text) from t where id < 500;",
    "select '- ' || count(distinct regexp_replace(name, '[0-9]+', 'x', 'g')) from t;",
    "select '- ' || sum(r) from (select row_number() over (partition by name order by value desc) r from t) x;",
    "do $$ declare r record; s text := ''; begin for r in select * from t where id < 300 loop s := s || r.name; "
    "execute 'select $1 + ' || r.id using r.id; end loop; end $$;",
    'with recursive f(a, b) as (select 0::numeric, 1::numeric union all select b, a + b from f where b < 1e60) '
    "select '- ' || count(*) from f;",
    'update t set value = value * 2 where id % 3 = 0; delete from t where id % 5 = 0;',
    'drop table t;',
]
POINT_QUERIES = 200
REPETITIONS = 5


def sql_work(times):
    points = [f"select '- ' || relname from pg_class c join pg_namespace n on n.oid = relnamespace where c.oid > {number} "
              f"order by relname limit 1;" for number in range(POINT_QUERIES)]
    return '\n'.join((SQL + points) * times + ["select '= done';"])


def postgres_walks(bench, server, times):
    """In a backend of its own, which is a process with an empty cache. It has done the work once before, so that it loads
    no libraries any more: those would belong to the warm-up, and void the cache."""
    with server.client() as client:
        backend = int(client.ask("select '= ' || pg_backend_pid();")[0])
        client.ask(sql_work(1))
        with walks_of(bench, backend) as walks:
            client.ask(sql_work(times))
    return walks[0]


def measure_hits(bench):
    with bench.trying('cache hits in clang'), time_bound.of(120):
        record_hits(bench, 'clang', clang_walks(bench, 1), clang_walks(bench, 2))
    with bench.trying('cache hits in postgres'), time_bound.of(90), Postgres() as server:
        record_hits(bench, 'postgres', postgres_walks(bench, server, REPETITIONS),
                  postgres_walks(bench, server, 2 * REPETITIONS))


def measure_unwinding(bench):
    """Comes last: reports of many stacks are read here, and who is started by a large process begins as a large one."""
    for row, measure in zip(ROWS, (measure_tables, measure_code, measure_hits)):
        if bench.wants(row):
            bench.progress(f'unwinding: {row}')
            with bench.trying(row):
                measure(bench)

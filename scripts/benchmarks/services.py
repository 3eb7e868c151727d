"""Rows of whole programs: a redis-server under redis-benchmark, and the compilation of one file."""
import contextlib
import csv
import io
import pathlib
import shlex
import subprocess
import tempfile
import time

from benchmarks.calls import workload
from benchmarks.common import Program, Unmeasured, find_program, last_line, time_bound
from benchmarks.peers import Launched

REDIS_TESTS = ('set', 'lpush')
REDIS_ROWS = [f'redis {test} {what}' for test in REDIS_TESTS for what in ('rps', 'p99')]
COMPILE_ROW = 'compile'
SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent / 'tests' / 'bench' / 'compiled.cpp'


class Redis:
    """A redis-server on a socket in a directory of its own, without persistence. It ends when the block is left."""

    def __init__(self, column):
        server = find_program('redis-server')
        self._client = find_program('redis-cli')
        self._load = find_program('redis-benchmark')
        if not server or not self._client or not self._load:
            raise Unmeasured('redis-server or redis-tools is not installed')
        self._directory = tempfile.TemporaryDirectory(prefix='hawktrace-bench-')
        self.socket = pathlib.Path(self._directory.name) / 'socket'
        command = [server, '--port', '0', '--unixsocket', self.socket, '--save', '', '--appendonly', 'no', '--dir',
                   self._directory.name]
        self.launched = Launched(column, command) if column.launches else None
        self.program = self.launched.program if self.launched else Program(command)
        try:
            self._wait()
        except BaseException:
            self.__exit__(Unmeasured, None, None)
            raise

    def client(self, *arguments):
        return subprocess.run([self._client, '-s', self.socket, *arguments], capture_output=True, text=True,
                              timeout=time_bound.left(), check=False)

    def _wait(self):
        while self.client('ping').stdout.strip() != 'PONG':
            if self.program.process.poll() is not None:
                raise Unmeasured(f'redis-server does not start: {last_line(self.program.said())}')
            time_bound.left()
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.program.process.poll() is None:
            self.program.process.kill()
        (self.launched or self.program).__exit__(kind, value, trace)
        self._directory.cleanup()

    def shut_down(self):
        self.client('shutdown', 'nosave')

    def load(self, requests):
        """{row: figure}. Values long enough to be allocations of their own, and keys at random."""
        done = subprocess.run([self._load, '-s', self.socket, '-n', str(requests), '-r', '100000', '-d', '100', '-t',
                               ','.join(REDIS_TESTS), '--csv'], capture_output=True, text=True,
                              timeout=time_bound.left(), check=False)
        figures = {}
        for line in csv.DictReader(io.StringIO(done.stdout[done.stdout.find('"test"'):])):
            test = line['test'].split()[0].lower()
            figures[f'redis {test} rps'] = float(line['rps'])
            figures[f'redis {test} p99'] = float(line['p99_latency_ms'])
        if set(figures) != set(REDIS_ROWS):
            raise Unmeasured(f'redis-benchmark prints no figures: {last_line(done.stdout + done.stderr)}')
        return figures


def run_redis(bench, column, requests):
    with Redis(column) as redis:
        if redis.launched:
            figures = redis.load(requests)
            redis.shut_down()
            redis.launched.finish(requests)
            return figures
        if not column.attaches:
            return redis.load(requests)
        with column.attach(bench, redis.program.pid, 0, 'redis') as watcher:
            figures = redis.load(requests)
            watcher.finish(requests, is_minimum=True)
        return figures


def requests_for(bench, column):
    # Some six allocator calls a request under a tracer.
    if column.key == 'massif' or column.cost_ns > 5000:
        return 5000 if bench.quick else 20_000
    return 20_000 if bench.quick else 100_000


def measure_redis(bench):
    if not any(bench.wants(row) for row in REDIS_ROWS):
        return
    for number, column in bench.turns('redis', REDIS_ROWS, bench.long_rounds + (not bench.quick), others=1):
        requests = requests_for(bench, column)
        with bench.attempt(REDIS_ROWS, column), time_bound.of(60), turning_time_outs():
            for row, figure in run_redis(bench, column, requests).items():
                bench.record(row, column, number, figure, f'{requests:,} requests')


@contextlib.contextmanager
def turning_time_outs():
    try:
        yield
    except subprocess.TimeoutExpired as error:
        raise Unmeasured(f'not done within {error.timeout:.0f} s') from error


def compiler_command(bench):
    """The compiler proper, which g++ would start: it is what allocates, and a tracer of one process can follow it."""
    driver = find_program('g++')
    if not driver:
        raise Unmeasured('g++ is not installed')
    options = ['-std=c++20', '-O0', *(['-DSMALL'] if bench.quick else [])]
    output = subprocess.run([driver, '-###', *options, '-S', '-o', '/dev/null', SOURCE], capture_output=True, text=True,
                          timeout=20, check=False).stderr
    for line in output.splitlines():
        words = shlex.split(line) if 'cc1plus' in line else []
        if words and words[0].endswith('cc1plus'):
            return words
    raise Unmeasured('g++ does not tell how it compiles')


def compile_once(bench, column, compiler):
    """Seconds from the start of the compiler to its end."""
    if column.launches:
        began = time.monotonic()
        with Launched(column, compiler) as launched:
            launched.finish(1000)
            took, status = time.monotonic() - began, launched.program.process.returncode
    else:
        with workload(bench, column, 'gate', [bench.programs / 'bench_gate', *compiler], 0) as (program, watcher):
            program.process.stdin.write(b'go\n')
            began = time.monotonic()
            status = program.finish()
            took = time.monotonic() - began
            if watcher:
                watcher.finish(1000, is_minimum=True, target_ended=True)
        bench.drop_subject('gate')
    if status != 0:
        raise Unmeasured(f'the compiler ended with {status}')
    return took


def measure_compile(bench):
    if not bench.wants(COMPILE_ROW):
        return
    for number, column in bench.turns('compile', [COMPILE_ROW], bench.long_rounds, others=1):
        bench.drop_subject('gate')
        with bench.attempt([COMPILE_ROW], column), time_bound.of(40 if bench.quick else 120):
            took = compile_once(bench, column, compiler_command(bench))
            bench.record(COMPILE_ROW, column, number, took, '')
        bench.drop_subject('gate')

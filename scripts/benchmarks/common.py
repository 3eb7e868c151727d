"""Programs that obey lines on their standard input, bounds on time, and samples."""
import contextlib
import os
import pathlib
import select
import statistics
import subprocess
import sys
import tempfile
import time

# What a program answers begins with this; what a profiler prints on the same stream does not.
ANSWER = '= '


class Unmeasured(Exception):
    """Something could not be measured; the text says what and why."""


class Unavailable(Unmeasured):
    """A peer that does not work on this machine at all."""


BEGAN = time.monotonic()


def progress(text):
    print(f'bench: {time.monotonic() - BEGAN:4.0f} s: {text}', file=sys.stderr, flush=True)


def summary(samples):
    """Median and extremes of samples, of which None count as not taken; None without any."""
    taken = [sample for sample in samples if sample is not None]
    if not taken:
        return None
    return {'median': statistics.median(taken), 'min': min(taken), 'max': max(taken), 'samples': taken}


class TimeBound:
    """The time that may still be spent on what is being measured; a benchmark that hangs must not hang for ever."""

    def __init__(self):
        self._ends = []

    @contextlib.contextmanager
    def of(self, seconds):
        self._ends.append((time.monotonic() + seconds, seconds))
        try:
            yield
        finally:
            self._ends.pop()

    def left(self):
        """Seconds; raises Unmeasured when there are none."""
        end, seconds = min(self._ends, default=(time.monotonic() + 60, 60))
        left = end - time.monotonic()
        if left <= 0:
            raise Unmeasured(f'not done within {seconds:g} s')
        return left


time_bound = TimeBound()


def wait_readable(stream):
    """Waits within the bound for something to read."""
    while not select.select([stream], [], [], min(time_bound.left(), 5))[0]:
        pass


def end(process, seconds=20):
    """Waits that long for a process to end, then ends it."""
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


class Program:
    """A child that obeys lines and answers each with one. Ends with its input, when the block is left.

    Its standard error goes to a file, and what it prints besides answers is kept: that is where profilers report.
    """

    def __init__(self, command, environment=None):
        self.name = pathlib.Path(str(command[0])).name
        self._errors = tempfile.TemporaryFile('w+', errors='replace')
        self._unread = b''
        self._printed = []
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self._errors, env={**os.environ, **(environment or {})})
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        if kind is not None and self.process.poll() is None:
            self.process.kill()
        end(self.process)
        self.process.stdout.close()
        self._errors.close()

    def _read_line(self):
        """A line, or None at the end of the output."""
        while b'\n' not in self._unread:
            wait_readable(self.process.stdout)
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return None
            self._unread += more
        line, _, self._unread = self._unread.partition(b'\n')
        return line.decode(errors='replace')

    def answer(self):
        """The numbers (or words) of the next answer."""
        while (line := self._read_line()) is not None:
            if line.startswith(ANSWER):
                return [number_or_word(word) for word in line.split()[1:]]
            self._printed.append(line)
        raise Unmeasured(f'{self.name} ended too early: {last_line(self.said())}')

    def ask(self, line):
        try:
            self.process.stdin.write(line.encode() + b'\n')
            self.process.stdin.flush()
        except OSError as error:
            raise Unmeasured(f'{self.name} ended too early: {last_line(self.said())}') from error
        return self.answer()

    def finish(self):
        """Closes its input, waits within the bound for its end, and returns its exit status."""
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        while (line := self._read_line()) is not None:
            self._printed.append(line)
        try:
            return self.process.wait(time_bound.left())
        except subprocess.TimeoutExpired as error:
            raise Unmeasured(f'{self.name} does not end') from error

    def said(self):
        """What it printed besides answers."""
        self._errors.seek(0)
        return '\n'.join(self._printed) + '\n' + self._errors.read()


def number_or_word(word):
    try:
        return float(word)
    except ValueError:
        return word


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else 'it says nothing'


def find_program(name, *more_names):
    """The first of these that there is, also where only root looks; None without any."""
    for candidate in (name, *more_names):
        for directory in [*os.environ.get('PATH', '').split(':'), '/usr/sbin', '/sbin', '/usr/share/bcc/tools']:
            path = pathlib.Path(directory) / candidate
            if path.is_file() and os.access(path, os.X_OK):
                return path
    return None


def find_library(pattern):
    """A shared library by its file name's pattern; None without any."""
    for directory in ('/usr/lib', '/usr/local/lib', '/lib'):
        for found in sorted(pathlib.Path(directory).glob(f'{pattern}')) + sorted(pathlib.Path(directory).glob(f'*/{pattern}')):
            return found
    return None


def round_down(number):
    """To a number people can read: 1, 2 or 5 times a power of ten."""
    power = 1
    while power * 10 <= number:
        power *= 10
    return max(power * step for step in (1, 2, 5) if power * step <= max(number, 1))

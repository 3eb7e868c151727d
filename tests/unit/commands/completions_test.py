#!/usr/bin/env python3
"""Has bash, zsh and fish complete command lines of hawktrace: completions_test.py COMPLETIONS HAWKTRACE. What they offer is
compared with what hawktrace --help explains.
"""
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

COMPLETIONS = pathlib.Path()
HAWKTRACE = ''
SORT_KEYS = {'live', 'live-count', 'allocated', 'allocated-count', 'freed-count'}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def help_of(command):
    return run(HAWKTRACE, *([command] if command else []), '--help')


def commands():
    """The one without a name first."""
    return ['', *re.search(r'^  hawktrace ([a-z|-]+) --help$', help_of(''), re.MULTILINE).group(1).split('|')]


def options_of(command):
    return set(re.findall(r'^  (?:-\w,)?(--[a-z-]+)', help_of(command), re.MULTILINE))


class Shell(unittest.TestCase):
    """What every shell must offer; each shell defines complete(), which returns what it offers for the last word."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix='hawktrace-completions-'))
        self.addCleanup(shutil.rmtree, self.directory)
        (self.directory / 'one.hawk').touch()
        (self.directory / 'sub').mkdir()

    def line(self, command, *words):
        return ['hawktrace', *([command] if command else []), *words]

    def check_options(self):
        for command in commands():
            offered = {word.rstrip('=') for word in self.complete(self.line(command, '--'))}
            self.assertEqual(offered, options_of(command), command)

    def check_words(self):
        for words, expected in ((['hawktrace', 're'], {'record', 'report'}),
                                (['hawktrace', '--format', 'fl'], {'flamegraph'}),
                                (['hawktrace', '--format', 'm'], {'massif', 'memhawk-summary', 'memhawk-stacktraces'}),
                                (['hawktrace', 'report', '--sort', ''], SORT_KEYS),
                                (['hawktrace', 'diff', '--format', ''], {'text', 'json', 'flamegraph'}),
                                (['hawktrace', 'report', 'one'], {'one.hawk'}),
                                (['hawktrace', '--', 'hea'], {'head'})):
            offered = set(self.complete(words))
            # Of programs there may be any number.
            if '--' in words:
                offered &= expected
            self.assertEqual(offered, expected, words)
        self.assertIn(str(os.getpid()), self.complete(['hawktrace', '-p', str(os.getpid())[:-1]]))
        self.assertEqual(self.complete(['hawktrace', '--top', '']), [])


class Bash(Shell):
    def complete(self, words):
        script = f'''
            source {COMPLETIONS}/bash/hawktrace
            COMP_WORDS=({' '.join(map(shlex.quote, words))}) COMP_CWORD={len(words) - 1}
            _hawktrace
            printf '%s\\n' "${{COMPREPLY[@]}}"
        '''
        return run('bash', '--norc', '-c', script, cwd=self.directory).split()

    def test_options(self):
        self.check_options()

    def test_words(self):
        self.check_words()

    def test_a_value_behind_an_equals_sign(self):
        self.assertEqual(self.complete(['hawktrace', '--format', '=', 'fl']), ['flamegraph'])
        self.assertEqual(set(self.complete(['hawktrace', '--tree', '='])), {'top-down', 'bottom-up'})
        self.assertEqual(self.complete(['hawktrace', '--tree', '=', 't']), ['top-down'])

    def test_it_is_registered(self):
        script = f'source {COMPLETIONS}/bash/hawktrace; complete -p hawktrace'
        self.assertEqual(run('bash', '--norc', '-c', script), 'complete -F _hawktrace hawktrace\n')


class Fish(Shell):
    def complete(self, words):
        line = ' '.join(words)
        script = f'source {COMPLETIONS}/fish/hawktrace; complete -C {shlex.quote(line)}'
        environment = {**os.environ, 'HOME': str(self.directory), 'XDG_CONFIG_HOME': str(self.directory / 'config'),
                       'XDG_DATA_HOME': str(self.directory / 'data')}
        offered = [row.split('\t')[0] for row in run('fish', '--no-config', '-c', script, cwd=self.directory,
                                                     env=environment).splitlines()]
        return [word for word in offered if word.startswith(words[-1])]

    def test_options(self):
        self.check_options()

    def test_words(self):
        self.check_words()


class Zsh(Shell):
    """An interactive one, on a terminal. What it is about to insert is asked of a widget of its own."""

    SETUP = '''
        PS1='%# ' ; unset zle_bracketed_paste; LISTMAX=0
        fpath=(DIRECTORY $fpath); autoload -Uz compinit; compinit -u -D
        zstyle ':completion:*' list-grouped false
        zstyle ':completion:*' verbose false
        compadd() {
          # As asked for, the matches are put into an array.
          local -a matches
          case " $* " in (*" -O "*|*" -A "*|*" -D "*) builtin compadd "$@"; return ;; esac
          builtin compadd -O matches "$@"
          print -rl -- ${matches/#/match:} >>OUT
          builtin compadd "$@"
        }
        offers() { BUFFER=$LINE; CURSOR=$#BUFFER; : >OUT; zle complete-it; print done >>OUT; BUFFER=; }
        complete-it() { compstate[insert]= ; _main_complete; compstate[list]=; compstate[insert]=; }
        zle -C complete-it complete-word complete-it; zle -N offers; bindkey '^T' offers
        print READY >OUT
    '''

    def setUp(self):
        super().setUp()
        functions = self.directory / 'functions'
        functions.mkdir()
        shutil.copy(COMPLETIONS / 'zsh' / 'hawktrace', functions / '_hawktrace')
        self.out = self.directory / 'out'
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(self.directory)
            os.execve(shutil.which('zsh'), ['zsh', '-f', '-i'], {'TERM': 'xterm', 'PATH': os.environ['PATH'],
                                                               'HOME': str(self.directory), 'LC_ALL': 'C.UTF-8'})
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.close, self.terminal)
        setup = self.directory / 'setup'
        setup.write_text(self.SETUP.replace('DIRECTORY', str(functions)).replace('OUT', str(self.out)), encoding='utf-8')
        self.type(f' source {setup}\n')
        self.wait('READY')

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, end):
        """What has been written, once its last line is `end`."""
        said = b''
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.02)[0]:
                said += os.read(self.terminal, 65536)
            text = self.out.read_text(encoding='utf-8') if self.out.exists() else ''
            if text.endswith(end + '\n'):
                return text
        raise AssertionError(said.decode(errors='replace'))

    def complete(self, words):
        self.out.write_text('', encoding='utf-8')
        self.type(f' LINE={shlex.quote(" ".join(words))}\n\x14')
        text = self.wait('done')
        return sorted({word for word in re.findall(r'^match:(.+)$', text, re.MULTILINE) if word.startswith(words[-1])})

    def test_options(self):
        self.check_options()

    def test_words(self):
        self.check_words()


del Shell

if __name__ == '__main__':
    COMPLETIONS = pathlib.Path(sys.argv.pop(1)).resolve()
    HAWKTRACE = sys.argv.pop(1)
    unittest.main()

#!/usr/bin/env python3
"""scripts/check_bpf_stacks finds a uprobe program without a tail call, and no other program."""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).parents[2] / 'scripts' / 'check_bpf_stacks'
WITHOUT = 'r0 = 0\\n exit'
WITH = 'r0 = 0\\n if r0 == 0 goto +1\\n call 12\\n r0 = 0\\n exit'


def objections(work, *programs):
    """Of an object with these programs: section, name, instructions."""
    source, built = work / 'programs.c', work / 'programs.o'
    source.write_text(''.join(f'__attribute__((naked, section("{section}"))) int {name}(void) {{ __asm__ volatile("{body}"); }}\n'
                              for section, name, body in programs), encoding='utf-8')
    subprocess.run(['clang-19', '-target', 'bpf', '-mcpu=v3', '-O2', '-c', str(source), '-o', str(built)], check=True)
    return subprocess.run([str(CHECK), str(built)], capture_output=True, text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        found = objections(work, ('uprobe', 'first', WITH), ('uprobe', 'second', WITHOUT), ('uprobe.multi/x', 'third', WITHOUT))
        named = {line.split(':')[0] for line in found.stdout.splitlines()}
        assert found.returncode == 1 and named == {'second', 'third'}, found
        found = objections(work, ('uprobe', 'first', WITH), ('uretprobe.s', 'second', WITH), ('tp_btf/x', 'third', WITHOUT))
        assert found.returncode == 0 and not found.stdout, found
        found = objections(work, ('tp_btf/x', 'none', WITHOUT))
        assert found.returncode == 1 and 'no uprobe program' in found.stdout, found
    return 0


if __name__ == '__main__':
    sys.exit(main())

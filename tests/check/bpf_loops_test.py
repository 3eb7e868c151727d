#!/usr/bin/env python3
"""scripts/check_bpf_loops finds a loop into whose beginning its last instruction falls, and no other."""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).parents[2] / 'scripts' / 'check_bpf_loops'
FALLS_INTO_ITS_BEGINNING = 'r1 = 0\n goto 2f\n1: r1 += 1\n2: r2 = r1\n if r1 < 8 goto 1b\n r0 = 0\n exit'


def objections(work, body):
    source, built = work / 'loop.c', work / 'loop.o'
    text = body.replace('\n', '\\n')
    source.write_text(f'__attribute__((naked)) int loop(void) {{ __asm__ volatile("{text}"); }}\n', encoding='utf-8')
    subprocess.run(['clang-19', '-target', 'bpf', '-mcpu=v3', '-O2', '-c', str(source), '-o', str(built)], check=True)
    return subprocess.run([str(CHECK), str(built)], capture_output=True, text=True, check=False)


def main():
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        found = objections(work, FALLS_INTO_ITS_BEGINNING)
        assert found.returncode == 1 and 'Linux 6.1 refuses' in found.stdout, found
        found = objections(work, 'r1 = 0\n1: r1 += 1\n if r1 < 8 goto 1b\n r0 = 0\n exit')
        assert found.returncode == 0 and not found.stdout, found
    return 0


if __name__ == '__main__':
    sys.exit(main())

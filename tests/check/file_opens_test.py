#!/usr/bin/env python3
"""scripts/check_file_opens finds what it is there to find, in a copy of the sources with one line more."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = [
    # file, line, accepted
    ('userspace/attach/module_map.cpp', 'UniqueFd a(::open(path.c_str(), O_RDONLY));', False),
    ('userspace/attach/module_map.cpp', 'UniqueFd a(::openat(directory, path.c_str(), O_PATH));', False),
    ('userspace/attach/module_map.cpp', 'const int a = openat(directory, path, O_PATH);', False),
    ('userspace/attach/module_map.cpp', 'std::ifstream a(path);', False),
    ('userspace/attach/module_map.cpp', 'for (const auto& a : std::filesystem::directory_iterator(path)) {', False),
    ('userspace/attach/process_trace.cpp', 'FILE* a = ::fopen(path, "r");', False),
    ('symbolizer/elf_file.cpp', '  FILE* a = fopen(path, "r");', False),
    ('symbolizer/elf_file.cpp', '  ::syscall(SYS_openat2, root.get(), path, &how, sizeof how);', False),
    ('userspace/base/process_file.cpp', '  ::open(path.c_str(), O_RDWR);', False),
    ('userspace/process/process.cpp', '  ::open(path.c_str(), O_RDONLY);', False),
    ('symbolizer/elf_file.cpp', '  image = ElfFile::open(std::move(fd));', True),
    ('symbolizer/elf_file.cpp', '  lookup->open();', True),
    ('symbolizer/elf_file.cpp', '  // ::open(path) would wait for a writer', True),
    ('userspace/attach/process_trace.cpp', '  UniqueFd a = open_regular_file(path);', True),
]


def accepts(root, file, line):
    """Runs the checker over the project with this line at the end of this file."""
    path = root / file
    before = path.read_text(encoding='utf-8')
    path.write_text(f'{before}{line}\n', encoding='utf-8')
    run = subprocess.run([ROOT / 'scripts' / 'check_file_opens', root], capture_output=True, text=True)
    path.write_text(before, encoding='utf-8')
    if run.returncode not in (0, 1) or (file in run.stdout) != (run.returncode == 1):
        sys.exit(f'check_file_opens misbehaved on {file} with {line}: {run.returncode}\n{run.stdout}{run.stderr}')
    return run.returncode == 0


with tempfile.TemporaryDirectory() as directory:
    copy = pathlib.Path(directory)
    for tree in ('userspace', 'symbolizer'):
        shutil.copytree(ROOT / tree, copy / tree)
    wrong = [case for case in CASES if accepts(copy, case[0], case[1]) != case[2]]
for case in wrong:
    print(f'{case[0]}: {case[1]}: should be {"accepted" if case[2] else "objected to"}')
sys.exit(1 if wrong else 0)

#!/usr/bin/env python3
"""scripts/check_includes finds what it is there to find: each include below must be objected to, or accepted, as noted."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CASES = [
    # file, include, accepted
    ('userspace/base/a.h', '"userspace/base/b.h"', True),
    ('userspace/base/a.h', '"userspace/tables/snapshot.h"', False),
    ('userspace/base/a.h', '<fmt/core.h>', True),
    ('userspace/elf/a.cpp', '<libelf.h>', False),
    ('userspace/elf/a.cpp', '"userspace/process/mappings.h"', False),
    ('userspace/process/a.cpp', '"userspace/elf/elf_layout.h"', True),
    # The target's files are read by processes without rights alone.
    ('userspace/process/a.cpp', '"userspace/elf/elf_image.h"', False),
    ('userspace/launch/a.cpp', '"userspace/elf/elf_image.h"', False),
    ('userspace/attach/a.cpp', '"userspace/elf/elf_layout.h"', True),
    ('userspace/attach/a.cpp', '"userspace/elf/elf_image.h"', False),
    ('userspace/attach/a.cpp', '"userspace/unwinding/unwind_section.h"', False),
    ('userspace/attach/a.cpp', '"userspace/code/allocator_functions.h"', False),
    ('userspace/attach/a.cpp', '"userspace/code/operator_frames.h"', False),
    ('userspace/attach/a.cpp', '"userspace/study/file_contents.h"', False),
    ('userspace/attach/a.cpp', '"symbolizer/perf_map.h"', False),
    ('userspace/attach/a.cpp', '"symbolizer/libdw_symbolizer.h"', False),
    ('userspace/attach/a.cpp', '<Zydis/Zydis.h>', False),
    ('userspace/tracer/a.cpp', '"userspace/code/allocator_functions.h"', False),
    ('userspace/tracer/a.cpp', '"userspace/elf/elf_image.h"', False),
    ('userspace/commands/a.cpp', '"userspace/elf/elf_image.h"', False),
    ('userspace/commands/a.cpp', '"userspace/study/file_contents.h"', False),
    ('userspace/commands/a.cpp', '"symbolizer/libdw_symbolizer.h"', False),
    ('userspace/study/a.cpp', '"userspace/elf/elf_image.h"', True),
    ('userspace/study/a.cpp', '"userspace/unwinding/unwind_section.h"', True),
    ('userspace/study/a.cpp', '"userspace/process/process.h"', False),
    ('userspace/process/a.cpp', '"userspace/code/arch/x86_64/instruction.h"', False),
    ('userspace/process/a.cpp', '<bpf/libbpf.h>', False),
    ('userspace/code/a.cpp', '<Zydis/Zydis.h>', True),
    ('userspace/code/a.cpp', '<bpf/libbpf.h>', False),
    ('userspace/code/a.cpp', '"userspace/process/process.h"', False),
    ('userspace/code/a.cpp', '"userspace/tables/snapshot.h"', False),
    ('userspace/launch/a.cpp', '"userspace/process/process.h"', False),
    ('userspace/tracer/a.cpp', '"userspace/attach/module_map.h"', False),
    ('userspace/attach/a.cpp', '<bpf/libbpf.h>', False),
    ('userspace/attach/a.cpp', '"userspace/commands/options.h"', False),
    ('userspace/attach/a.cpp', '"userspace/report/loss_block.h"', False),
    ('userspace/launch/a.cpp', '"userspace/attach/process_trace.h"', False),
    ('userspace/export/a.cpp', '"userspace/report/frame_list.h"', True),
    ('userspace/export/a.cpp', '<nlohmann/json.hpp>', True),
    ('userspace/export/a.cpp', '"userspace/attach/process_trace.h"', False),
    ('userspace/report/a.cpp', '<nlohmann/json.hpp>', False),
    ('userspace/report/a.cpp', '"userspace/export/json_report.h"', False),
    ('userspace/commands/a.cpp', '<bpf/libbpf.h>', False),
    ('userspace/commands/a.cpp', '"userspace/attach/process_trace.h"', True),
    ('userspace/commands/a.cpp', '"userspace/code/function_walk.h"', False),
    ('userspace/attach/a.cpp', '<CLI/App.hpp>', False),
    ('userspace/tracer/a.cpp', '"hawktrace.skel.h"', True),
    ('userspace/tracer/a.cpp', '"bpf/layout.h"', True),
    ('userspace/tracer/a.cpp', '"bpf/maps.bpf.h"', False),
    ('userspace/tracer/a.cpp', '"userspace/tables/losses.h"', True),
    ('userspace/tracer/a.cpp', '"userspace/tables/snapshot.h"', False),
    ('userspace/tracer/a.cpp', '<elfutils/libdwfl.h>', False),
    ('userspace/tables/a.cpp', '<iostream>', False),
    ('userspace/tables/a.cpp', '<chrono>', False),
    ('userspace/tables/a.cpp', '<vector>', True),
    ('userspace/tables/a.cpp', '"userspace/tracer/a.h"', False),
    ('userspace/report/a.cpp', '"symbolizer/symbolizer.h"', True),
    ('userspace/report/a.cpp', '"symbolizer/dwfl_session.h"', False),
    ('userspace/report/a.cpp', '  #  include <bpf/bpf.h>', False),
    ('symbolizer/a.cpp', '<elfutils/libdwfl.h>', True),
    ('symbolizer/a.cpp', '<CLI/App.hpp>', False),
    ('userspace/commands/a.cpp', '"userspace/tracer/tracer.h"', False),
    ('bpf/a.bpf.c', '<stdint.h>', False),
    ('bpf/a.bpf.c', '<bpf/bpf_helpers.h>', True),
    ('bpf/a.h', '"bpf/maps.bpf.h"', False),
    ('userspace/unknown/a.h', '<vector>', False),
]


def accepts(file, include):
    """Runs the checker over a project that has this one file with this one include."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        (root / 'scripts').mkdir()
        shutil.copy(ROOT / 'scripts' / 'rooms.txt', root / 'scripts')
        for tree in ('bpf', 'userspace', 'symbolizer'):
            (root / tree).mkdir()
        (root / file).parent.mkdir(exist_ok=True)
        (root / file).write_text(f'{include}\n' if 'include' in include else f'#include {include}\n')
        run = subprocess.run([ROOT / 'scripts' / 'check_includes', root], capture_output=True, text=True)
        named = f'{file}' in run.stdout
        if run.returncode not in (0, 1) or named != (run.returncode == 1):
            sys.exit(f'check_includes misbehaved on {file} with {include}: {run.returncode}\n{run.stdout}{run.stderr}')
        return run.returncode == 0


wrong = [case for case in CASES if accepts(case[0], case[1]) != case[2]]
for case in wrong:
    print(f'{case[0]} with {case[1]}: expected {"accepted" if case[2] else "an objection"}')
sys.exit(1 if wrong else 0)

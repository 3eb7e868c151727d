#!/usr/bin/env python3
"""Writes the seeds of every fuzz corpus to tests/fuzz/corpus/<target>/.

usage: make_corpus.py [DIRECTORY]    DIRECTORY takes the place of tests/fuzz/corpus

The same tools make the same bytes. Files that a fuzzer found (path_*, crash_*) are not touched.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIXTURES = HERE.parent / 'support' / 'elf_fixtures'

# Small files: no page is padded, nothing is placed on a page of its own.
LINK = ['ld', '-shared', '-z', 'noseparate-code', '-z', 'norelro', '-z', 'max-page-size=16', '--build-id=sha1']

# The first byte says where the head is cut in two.
HTTP_REQUESTS = {
    'metrics': b'\x08GET /metrics HTTP/1.1\r\nHost: localhost:9817\r\nAccept: text/plain; version=0.0.4\r\n\r\n',
    'profile': b'\x40GET /targets/a%2Fb/debug/pprof/heap?seconds=5&debug=1&x=a+%26 HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET',
    'body': b'\x00POST / HTTP/1.1\r\nhost: [::1]:1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello',
    'token': b'\xffGET // HTTP/1.1\r\nHost: \t\r\nAuthorization: Bearer x\r\nConnection: close\r\n\r\n',
    'folded': b'\x30GET /a/?=&&= HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n',
    'controls': b'\x04GET /%0a%7f?%00 HTTP/1.1\r\nHost: a\nb\r\nX: \x1b[2J\r\n\r\n',
}

MAPPINGS = {
    'service': ('55d0c0400000-55d0c0401000 r--p 00000000 fe:01 131075                     /usr/bin/service\n'
                '55d0c0401000-55d0c0402000 r-xp 00001000 fe:01 131075                     /usr/bin/service\n'
                '55d0c1a00000-55d0c1a21000 rw-p 00000000 00:00 0                          [heap]\n'
                '7f12a0000000-7f12a0021000 rw-p 00000000 00:00 0 \n'
                '7ffd1c9f0000-7ffd1ca11000 rw-p 00000000 00:00 0                          [stack]\n'
                'ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n'),
    'deleted': ('7f0000000000-7f0000001000 r-xp 00000000 08:01 77 /opt/plug in (deleted)/x.so (deleted)\n'
                '7f0000001000-7f0000002000 r-xp 00000000 08:01 0 /no/file (deleted)\n'
                '7f0000002000-7f0000003000 r-xp 00000000 08:01 78  (deleted)\n'
                '7f0000003000-7f0000004000 rwxs 00000000 00:01 79 /memfd:jit (deleted) (deleted)\n'),
    'newline_in_path': '7f0000000000-7f0000001000 r-xp 00000000 08:01 9 /tmp/a\\012b\\012\\0123 \\\\012\n',
    'cut_short': '7f0000000000-7f0000001000 r-xp 00000000 08:01 12\n7f0000001000-7f00000020',
    'widest_numbers': 'fffffffffffffffe-ffffffffffffffff ---p ffffffffffffffff ffffffff:ffffffff 18446744073709551615 x\n'
                      '1-2 r-xp 0 100000000:1ffffffff 1\n',
    'damaged': ('\n \n-\n0-0 r-xp 0 0:0 0\n2-1 r-xp 0 0:0 0\n1-2 r-xp\n1-2 r-xp 0\n1-2 r-xp 0 0\n1-2 r-xp 0 0: 5\n'
                '10000000000000000-2 r-xp 0 0:0 0\n-1-2 r-xp 0 0:0 0\n1-2 r-x 0 0:0 0\n1-2 r-xp 0 0:0 0x1\n'
                '0x1-0x2 r-xp 0 0:0 0\n1-2 r-xp 0 0:0 99999999999999999999 /x\n'),
}

OPTIONS = {
    'attach': ['-p', '1', '--duration', '10s', '--top', '20', '--sort', 'allocated', '--format', 'json', '-o', 'x.json'],
    'all_values': ['--pid=1', '--interval=250ms', '--min-size=4KiB', '--color', 'never', '--stack-depth', '256',
                   '--attach-via', 'perf', '--unwind', 'fp', '--max-blocks', '67108864', '--max-stacks', '16'],
    'all_flags': ['-qp1', '--full-stacks', '--bytes', '--require-exact', '--verify', '--ready-fd', '2'],
    'command': ['-v', '--', './server', '--port', '8080', '--', '-p', '1'],
    'help': ['-h'],
    'version': ['--version', '-p', 'x'],
    'misspelt': ['--tpo', '5', '--sort', 'alocated', '-p1'],
    'value_missing': ['-p', '--top', '5'],
    'value_for_flag': ['-p1', '--verify=yes'],
    'twice': ['-p', '1', '--pid', '2'],
    'both_targets': ['-p', '1', '--', 'ls'],
    'no_command': ['--'],
    'empty_words': ['', '-', '--=', '-p=', '-p', '', '-o', '', '=', '-=-', '---', '--pid='],
    'numbers': ['-p', '2147483648', '--duration', '18446744073709551616h', '--top', '-1', '--min-size', '16777216T'],
    'numbers_at_limit': ['-p', '2147483647', '--duration', '8760h', '--top', '1048576', '--min-size', '16777215T'],
    'units': ['-p', '+1', '--duration', '1e3', '--interval', '99ms', '--min-size', '1KB', '--stack-depth', '0x10'],
    'not_text': ['-p', '\udcff\x1b[2J', '--\udcfe', '{}', '{0}', '%s', '--duration', '{}s'],
    'stray_words': ['1234', 'redis-server', '-p', 'redis-server', '-x', '-pv'],
}

NAMES = {
    'cxx': ['server', '_ZN5cache3putEiSt6vectorIiSaIiEE', '_ZNSt6vectorIiSaIiEE9push_backEOi', '_Znwm', 'src/cache.cpp',
            '/usr/lib/libc.so.6', '0123abcd', 'malloc'],
    'rust': ['_RNvC6_123foo3bar', '_RNvNtCs1234_7mycrate3foo3bar', '_ZN4core3fmt5write17h0123456789abcdefE',
             '_RINvNtC3std3mem8align_ofjE', '__rust_alloc', '_RNCNvC4main3run0B3_'],
    'lambdas': ['_ZZN1a1bEvENKUlvE_clEv', '_ZN12_GLOBAL__N_11fEv', '_ZN1aplERKS_', 'operator->', 'a::operator()(int)',
                '(anonymous namespace)::f<(a)1>(int) const', 'void (*pick<int>(int))(char)', 'f [clone .isra.0]'],
    'brackets': ['<', '>', '(', ')', ']', '}', '{', '<(', '->', 'operator', 'operator<', 'a<b>>(c', '<a as b>::c', '::'],
    'truncated_manglings': ['_Z', '_ZN', '_ZNK', '_ZSt', '_ZTV', '_R', '_RN', '_ZN9999999999aE', '_GLOBAL_', '_ZL1'],
    'controls': ['\x1b[2J', '\r\n\t\x07', '\u202egnp.exe', 'e\u0301\u200b', '\u4e2d\u6587', '\udcff\udcc0\udc80', '\u2028'],
    'deep_nesting': ['_Z1f' + 'P' * 300 + 'i', '<' * 400, '_Z1fI' + 'Li1E' * 60 + 'EvT_', '_RNv' + 'B_' * 40],
    'exponential': ['_Z1fI' + ''.join(f'1aIS{i}_S{i}_E' for i in range(8)) + 'Evv', '_Z1fSt4pairIS_IS0_S0_ES1_E'],
    'empty': [''],
}
# Options and counters: every bit of the fifth byte is a switch, the sixth and seventh are columns and rows.
NAMES_HEADERS = {
    'narrow': bytes([1, 9, 200, 3, 7, 0x30, 40, 10]) + struct.pack('<Q', 10**10),
    'wide_full': bytes([0, 2, 255, 0, 0, 0x03, 0, 60]) + struct.pack('<Q', 2**64 - 1),
    'color': bytes([255, 255, 255, 5, 255, 0x44, 132, 24]) + bytes(8),
}

CALL_SITES = {
    'direct_call': '90 90 90 e8 01 02 03 04',
    'through_register': '90 90 90 90 90 41 ff d4',
    'through_rip': '90 90 ff 15 01 02 03 04',
    'through_table': '90 ff 14 c5 00 10 40 00',
    'far_displacement': '90 41 ff 94 c7 00 02 00 00',
    'segment_prefix': '64 ff 14 25 10 00 00 00',
    'glibc_restorer': '90 90 90 90 90 90 90 90 48 c7 c0 0f 00 00 00 0f 05',
    'musl_restorer': '90 90 90 90 90 90 90 90 b8 0f 00 00 00 0f 05',
    'no_call': '90 90 90 90 90 90 ff e0',
    'one_byte_short_of_a_window': '48 89 df e8 01 02 03 04 90 90 90 90 90 90 90 90',
}


def arguments(kind, *values):
    return struct.pack('<IQQQ', kind, *values)


REQUESTED_SIZES = {
    'malloc': arguments(1, 100, 0, 0),
    'calloc': arguments(2, 3, 7, 0),
    'calloc_overflow': arguments(2, 2**33, 2**31, 0),
    'calloc_largest': arguments(2, 2**32 - 1, 2**32 + 1, 0),
    'calloc_zero': arguments(2, 2**40, 0, 0),
    'realloc': arguments(3, 1, 2**64 - 1, 0),
    'reallocarray_overflow': arguments(4, 1, 2**64 - 1, 2),
    'aligned_alloc': arguments(5, 64, 100, 0),
    'posix_memalign': arguments(6, 1, 64, 100),
    'unknown_kind': arguments(2**32 - 1, 1, 2, 3),
}


def stack(pc, rsp, rbp, words, depth=255, guesses=0):
    """Of unwind_fuzz.cpp: the function of rule n begins at 0x1000 + 16 n, the stack at 0x8000."""
    return struct.pack('<BBHHH', guesses, depth, pc, rsp, rbp) + b''.join(struct.pack('<Q', word) for word in words)


def function(rule, offset=8):
    return 0x1000 + 16 * rule + offset


# By number: those without operands (bpf/unwind/layout.h), then those that unwind_fuzz.cpp adds.
GAP, SIGNAL, END, BY_FP, ADD_8, ADD_16, PUSHED_RBP, LARGE, BACK, ODD, FRAME = 2, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18
FAR_RBP, FAR, RBP_AT_SP, RBP_LOST, REALIGNED, LOADED, PLT = range(19, 26)
STACKS = {
    'one_frame': stack(function(END), 0x8000, 0, []),
    'plain': stack(function(ADD_8), 0x8000, 0, [function(ADD_16), 1, function(END)]),
    'saved_rbp': stack(function(PUSHED_RBP), 0x8000, 1, [0, 0, 0x8030, function(FRAME), 0, 0, 0, function(END)]),
    'frame_pointers': stack(0x3010, 0x8000, 0x8008, [0, 0x8018, 0x3020, 0x8028, 0, function(END)], guesses=1),
    'guesses_end': stack(function(GAP), 0x8000, 0x7ff0, [0, 0], guesses=1),
    'no_guesses': stack(0x3010, 0x8000, 0x8008, [0, 0x8018, 0x3020]),
    'recursion': stack(function(ADD_8), 0x8000, 0, [function(ADD_8)] * 300),
    'depth': stack(function(ADD_8), 0x8000, 0, [function(ADD_8)] * 9, depth=4),
    'signal': stack(function(SIGNAL), 0x8000, 0, [0] * 15 + [0x8010, 0, 0, 0, 0, 0x80b0, function(ADD_8, 0)]
                    + [function(END)] * 2),
    'signals_without_end': stack(function(SIGNAL), 0x8000, 0, [0] * 20 + [0x8000, function(SIGNAL)]),
    'realigned': stack(function(REALIGNED), 0x8000, 0x8010, [0, 0x8030, 0x8040, 0, 0, function(FRAME), 0, 0, 0,
                                                             function(END)]),
    'loaded_between_words': stack(function(LOADED), 0x8000, 0, [0, 0]),
    'stub': stack(function(PLT), 0x8000, 0, [function(PLT, 12), 1, function(END)]),
    'stub_that_has_pushed': stack(function(PLT, 11), 0x8000, 0, [1, function(END)]),
    'not_covered': stack(function(GAP), 0x8000, 0, []),
    'backwards': stack(function(BACK), 0x8008, 0, [function(END)]),
    'odd': stack(function(ODD), 0x8000, 0, [function(END)] * 4),
    'rbp_at_rsp': stack(function(RBP_AT_SP), 0x8000, 0, [0, 0x8018, function(FRAME), 0, function(END)]),
    'rbp_lost': stack(function(RBP_LOST), 0x8000, 0, [0, 0, function(FRAME), 0, function(END)]),
    'past_the_stack': stack(function(LARGE), 0x8000, 0, [0]),
    'far': stack(function(FAR), 0x8000, 0, [0, 0x8000]),
    'far_rbp': stack(function(FAR_RBP), 0x8000, 0x8000, [0, 0, function(END)]),
    'returns_to_zero': stack(function(ADD_8), 0x8000, 0, [0]),
    'no_code': stack(function(ADD_8), 0x8000, 0, [0x9000]),
    'each_kind': stack(function(ADD_8), 0x8000, 0x8000, [function(rule) for rule in (12, 13, 14, 18, 21, 25, 7, 10, 9)]),
    'header_only': stack(0, 0, 0, [])[:7],
}


def encoded(words):
    """Words separated by NUL; \\udcXX stands for the byte XX."""
    return b'\0'.join(word.encode('utf-8', 'surrogateescape') for word in words)


def run(*command, cwd):
    subprocess.run(command, cwd=cwd, check=True)
    return (cwd / command[command.index('-o') + 1]).read_bytes()


def without_section_headers(image):
    header = bytearray(image)
    header[40:48] = bytes(8)   # e_shoff
    header[60:64] = bytes(4)   # e_shnum, e_shstrndx
    return bytes(header)


def elf_images(cwd):
    """Libraries with allocator functions, whole and damaged."""
    images = {}
    for name in ('allocator', 'operators', 'placement'):
        run('as', '-o', f'{name}.o', str(FIXTURES / f'{name}.s'), cwd=cwd)
        run(*LINK, '-o', f'{name}.so', f'{name}.o', cwd=cwd)
        images[name] = run('strip', '-o', f'{name}.stripped', f'{name}.so', cwd=cwd)
    images['with_symtab'] = (cwd / 'operators.so').read_bytes()
    images['sysv_hash'] = run(*LINK, '--hash-style=sysv', '-s', '-o', 'sysv.so', 'allocator.o', cwd=cwd)
    images['indirect_branch_tracking'] = run(*LINK, '-z', 'ibtplt', '-s', '-o', 'ibt.so', 'operators.o', cwd=cwd)
    images['no_section_headers'] = without_section_headers(images['allocator'])
    images['relr'] = run(*LINK, '-z', 'pack-relative-relocs', '-s', '-o', 'relr.so', 'operators.o', cwd=cwd)
    images['header_only'] = images['allocator'][:64]
    images['cut_in_segments'] = images['allocator'][:0x400]
    images['other_processor'] = images['header_only'][:18] + b'\xb7\0' + images['header_only'][20:]
    images['class_32'] = images['header_only'][:4] + b'\1' + images['header_only'][5:]
    images['not_elf'] = b'#!/bin/sh\n'
    return images


def modules(cwd):
    """One module with debug information of each make, and what becomes of it."""
    source = str(HERE / 'seeds' / 'nested.cpp')
    flags = ['-O2', '-fPIC', '-fno-exceptions', '-fno-rtti', '-fno-asynchronous-unwind-tables', '-fno-ident',
             f'-ffile-prefix-map={HERE}=.', f'-ffile-prefix-map={cwd}=.', '-c', '-o', 'nested.o', source]
    images = {}
    for compiler in ('g++', 'clang++'):
        for version in (4, 5):
            run(compiler, f'-gdwarf-{version}', *flags, cwd=cwd)
            name = f'{compiler[:-2]}_dwarf{version}'
            images[name] = run(*LINK, '-e', 'entry', '-o', f'{name}.so', 'nested.o', cwd=cwd)
    subprocess.run(['objcopy', '--compress-debug-sections=zlib', 'g_dwarf5.so', 'zlib.so'], cwd=cwd, check=True)
    images['compressed'] = (cwd / 'zlib.so').read_bytes()
    images['symbols_only'] = run('strip', '-g', '-o', 'symbols.so', 'g_dwarf5.so', cwd=cwd)
    images['dynamic_symbols_only'] = run('strip', '-o', 'dynamic.so', 'g_dwarf5.so', cwd=cwd)
    subprocess.run(['objcopy', '--add-gnu-debuglink=symbols.so', 'dynamic.so', 'link.so'], cwd=cwd, check=True)
    images['debuglink'] = (cwd / 'link.so').read_bytes()
    images['header_only'] = images['symbols_only'][:64]
    images['cut_in_debug_info'] = images['g_dwarf4'][:0x700]
    return images


def common_record(augmentation=b'zR', data=b'\x1b', instructions=bytes([0x0c, 7, 8, 0x90, 1]), version=1, id=bytes(4)):
    body = id + bytes([version]) + augmentation + b'\0' + (b'\x08\0' if version == 4 else b'') + bytes([1, 0x78, 16])
    if augmentation.startswith(b'z'):
        body += bytes([len(data)]) + data
    body += instructions
    return struct.pack('<I', len(body)) + body


def function_record(section, begin, size, instructions, common=0):
    at = len(section)
    body = struct.pack('<IiIB', at + 4 - common, begin - (0x100000 + at + 8), size, 0) + instructions
    return struct.pack('<I', len(body)) + body


def unwind_tables(cwd):
    """Sections of a compiler, and some by hand: a byte of settings comes first."""
    source = str(HERE.parent / 'unit' / 'unwinding' / 'fixtures' / 'frames.c')
    images = {}
    for name, flags, section in (('eh_frame', [], '.eh_frame'),
                                 ('debug_frame', ['-g', '-fno-asynchronous-unwind-tables'], '.debug_frame')):
        run('gcc', '-O2', '-fPIC', '-shared', '-nostdlib', '-Wl,-z,lazy', *flags, '-o', f'{name}.so', source, cwd=cwd)
        subprocess.run(['objcopy', '--dump-section', f'{section}={name}.bin', f'{name}.so', '/dev/null'], cwd=cwd, check=True)
        images[name] = bytes([section == '.debug_frame']) + (cwd / f'{name}.bin').read_bytes()
    restorer = bytes.fromhex('0f0477a00106' '10060377f800' '10070377a001' '10100377a801')
    signal = common_record(b'zRS')
    images['signal_frame'] = b'\0' + signal + function_record(signal, 0x1000, 0x10, restorer)
    overlap = common_record()
    for begin, size, cfa in ((0x1000, 100, 16), (0x1014, 40, 24), (0x1028, 40, 32), (0x1000, 20, 40), (0x1200, 8, 48)):
        overlap += function_record(overlap, begin, size, bytes([0x0a, 0x0e, cfa, 0x44, 0x86, 2, 0x44, 0x0b, 0x42, 0x07, 16]))
    images['overlaps'] = b'\0' + overlap
    images['few_rows'] = b'\4' + overlap
    images['ends_at_zero'] = b'\2' + overlap[:80] + bytes(4) + overlap
    every = bytes([0x41, 0x02, 1, 0x03, 1, 0, 0x04, 1, 0, 0, 0, 0x05, 6, 2, 0x06, 6, 0x07, 6, 0x08, 6, 0x09, 6, 3, 0x0a,
                   0x0c, 6, 16, 0x0d, 7, 0x0e, 8, 0x0f, 3, 0x76, 0x78, 6, 0x0b, 0x10, 6, 2, 0x76, 0, 0x11, 6, 2, 0x12,
                   7, 0x7f, 0x13, 0x7e, 0x14, 6, 1, 0x15, 6, 1, 0x16, 6, 2, 0x76, 0, 0x2e, 16, 0x2f, 6, 1, 0x1d])
    images['every_instruction'] = b'\0' + overlap + function_record(overlap, 0x2000, 0x100, every + bytes(8))
    plain = common_record(b'', version=4, id=b'\xff' * 4)
    body = struct.pack('<IQQ', 0, 0x401000, 0x20) + bytes([0x41, 0x0e, 16])
    images['version_4'] = b'\1' + plain + struct.pack('<I', len(body)) + body
    return images


def uleb(value):
    out = b''
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def read_uleb(data, at):
    value = shift = 0
    while data[at] >= 0x80:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
    return value | data[at] << shift, at + 1


def intervals_of(recording, trace):
    """The intervals of a trace in a file, as userspace/recording/README.md has it; each is one chunk."""
    at = 20
    while at < len(recording):
        magic, _, of, _, size, _ = struct.unpack_from('<IHHIII', recording, at)
        assert magic == 0x4b4e4843
        at += 20
        if of == trace:
            yield subprocess.run(['zstd', '-dcq'], input=recording[at:at + size], check=True, capture_output=True).stdout
        at += size


def records_at(interval):
    """Where the list of records of an interval begins: it is the last of what that holds."""
    for start in range(len(interval) - 1, 0, -1):
        count, at = read_uleb(interval, start)
        kinds = []
        while at < len(interval) and len(kinds) < count:
            kind, at = read_uleb(interval, at)
            size, at = read_uleb(interval, at) if at < len(interval) else (0, at)
            at += size
            kinds.append(kind)
        if at == len(interval) and kinds == [1, 2, 3]:
            return start
    raise ValueError('the interval has no such records')


def numbers(*values):
    return b''.join(uleb(value) for value in values)


def difference(value):
    return uleb(value << 1 if value >= 0 else (-value << 1) - 1)


# What is recorded of the lives of blocks: the numbers of kinds, and what may be wrong with their contents.
def ages(*blocks, marks=(5, 6000), count=None):
    body = b''.join(difference(stack) + difference(born) + numbers(16, 1) for stack, born in blocks)
    return 8, numbers(100_000, len(marks), *marks, len(blocks) if count is None else count) + body


def histograms(*stacks, count=None):
    """Of each stack: how much its id is above that before, classes of sizes and of lifetimes with their blocks."""
    body = b''
    for more, sizes, lifetimes in stacks:
        body += numbers(more)
        for classes in (sizes, lifetimes):
            body += numbers(len(classes)) + b''.join(numbers(*pair) for pair in classes)
        body += numbers(3, 5)
    return 10, numbers(len(stacks) if count is None else count) + body


def by_thread(*shares, names=((77, b'pool'),)):
    body = b''.join(numbers(more, tid, 10, 2, 5, 1, 1) for more, tid in shares)
    return 11, numbers(len(shares)) + body + numbers(len(names)) + b''.join(numbers(tid, len(name)) + name
                                                                            for tid, name in names)


LIVES = {
    'ages': [ages((1, 1000), (0, 5), (1, -1005), (200, 90_000))],
    'ages_out_of_order': [ages((2, 1000), (-1, 5))],
    'ages_twice': [ages((2, 1000), (0, 0))],
    'ages_without_end': [ages((2, 1000), count=1 << 62)],
    'ages_marks_descend': [ages((2, 1000), marks=(6000, 5))],
    'ages_overflow': [ages((2**32 - 1, 2**63), (1, 2**63 - 1), marks=(2**64 - 1,))],
    'age_bits': [ages((1, 1000)), (13, numbers(9))],
    'age_bits_of_no_ages': [(13, numbers(9))],
    'age_bits_none': [ages((1, 1000)), (13, numbers(0))],
    'age_bits_too_many': [ages((1, 1000)), (13, numbers(64))],
    'peak_most_too_low': [(9, numbers(0))],
    'peak_most': [(9, numbers(2**64 - 1)), (12, numbers(2**64 - 1))],
    'sum_most_and_more': [(12, numbers(1, 1))],
    'histograms': [histograms((0, [(0, 1), (34, 2**64 - 1)], [(32, 7)]), (3, [], []), (1, [(2, 2), (2, 3)], []))],
    'histograms_beyond': [histograms((1, [(35, 1)], []))],
    'histograms_beyond_lifetimes': [histograms((1, [], [(33, 1)]))],
    'histograms_twice': [histograms((1, [(1, 1)], []), (0, [(1, 1)], []))],
    'histograms_wrap': [histograms((2**32 - 1, [(1, 1)], []), (2**32 - 1, [(1, 1)], []))],
    'histograms_without_end': [histograms(count=1 << 62)],
    'by_thread': [by_thread((1, 77), (0, 78), (5, 77), names=((77, b'a\n\xff'), (78, b'')))],
    'by_thread_too_large': [by_thread((1, 1 << 40))],
    'by_thread_out_of_order': [by_thread((1, 78), (0, 77), names=((78, b'b'), (77, b'a')))],
}


def recordings():
    """Of version 2, with what may be wrong with its records."""
    file = (HERE.parent / 'golden' / 'recording_v2.hawk').read_bytes()
    intervals = list(intervals_of(file, 0))
    last = intervals[-1]
    head = last[:records_at(last)]

    def encoded_intervals(*all):
        return b'I' + b''.join(struct.pack('<H', len(i)) + i for i in all)

    def with_records(*records):
        body = b''.join(uleb(kind) + uleb(len(content)) + content for kind, content in records)
        return encoded_intervals(*intervals[:-1], head + uleb(len(records)) + body)

    def event(time, tid, name):
        return uleb(time) + uleb(tid) + (b'\0' if name is None else b'\1' + uleb(len(name)) + name)

    def threads(*events, target=0, count=None):
        return 3, uleb(target) + uleb(len(events) if count is None else count) + b''.join(events)

    return {
        'v2_file': b'F' + file,
        'v2_intervals': encoded_intervals(*intervals),
        'v2_threads': with_records(threads(event(1, 7, b'a\n\xff'), event(2, 7, b''), event(3, 7, None), event(0, 7, None))),
        'v2_threads_of_no_process': with_records(threads(event(1, 7, b'a'), target=1)),
        'v2_threads_without_end': with_records(threads(count=1 << 62)),
        'v2_threads_cut_off': with_records((3, threads(event(1, 7, b'name'))[1][:-2])),
        'v2_threads_and_more': with_records((3, threads(event(1, 7, b'name'))[1] + b'x')),
        'v2_thread_ids_too_large': with_records(threads(event(1, 1 << 40, b'a'))),
        'v2_name_too_long': with_records(threads(b'\1\1\1' + uleb(1 << 33) + b'a')),
        'v2_many_records': with_records(*[threads(event(n, n, b'a')) for n in range(200)], (99, b'later')),
        **{f'v2_{name}': with_records(*records) for name, records in LIVES.items()},
        'v2_no_records': encoded_intervals(*intervals[:-1], head),
    }


def corpora(cwd):
    reports = {name: NAMES_HEADERS['narrow'] + encoded(words) for name, words in NAMES.items()}
    reports |= {f'{name}_header': header + encoded(NAMES['controls'] + NAMES['lambdas'])
                for name, header in NAMES_HEADERS.items()}
    return {
        'mappings': {name: text.encode() for name, text in MAPPINGS.items()},
        'http_request': HTTP_REQUESTS,
        'options': {name: encoded(words) for name, words in OPTIONS.items()},
        'report': reports,
        'call_site': {name: bytes.fromhex(code).ljust(15 if 'short' in name else 17, b'\x90')
                      for name, code in CALL_SITES.items()},
        'recording': recordings(),
        'requested_size': REQUESTED_SIZES,
        'unwind': STACKS,
        'elf_image': elf_images(cwd),
        'symbolizer': modules(cwd),
        'unwind_table': unwind_tables(cwd),
    }


def main():
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / 'corpus'
    with tempfile.TemporaryDirectory() as directory:
        for target, files in corpora(pathlib.Path(directory)).items():
            (root / target).mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (root / target / name).write_bytes(content)


if __name__ == '__main__':
    main()

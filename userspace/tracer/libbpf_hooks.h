#pragma once

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include <cstddef>

/// Functions of libbpf in whose place it calls ours (CMakeLists.txt: --wrap), as they are. Ours are in
/// parallel_load.cpp.
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
extern "C" {
btf* __real_btf__load_vmlinux_btf();
int __real_bpf_map_create(bpf_map_type type, const char* name, __u32 key_bytes, __u32 value_bytes, __u32 entries,
                          const bpf_map_create_opts* options);
int __real_bpf_prog_load(bpf_prog_type type, const char* name, const char* license, const bpf_insn* instructions,
                         std::size_t count, bpf_prog_load_opts* options);
}
// NOLINTEND(bugprone-reserved-identifier)

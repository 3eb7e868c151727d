#pragma once

#include <linux/bpf.h>

#include <array>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// `r0 = 0; exit`.
std::array<bpf_insn, 2> trivial_instructions();

/// The same, loaded as a uprobe program for `attach_type` (enum bpf_attach_type). None when the kernel refuses;
/// errno says why.
UniqueFd load_trivial_program(unsigned attach_type);
/// And for the entry of a function of the kernel, given by its number in the kernel's BTF.
UniqueFd load_trivial_function_program(unsigned function);

}  // namespace hawk

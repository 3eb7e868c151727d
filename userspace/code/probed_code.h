#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "userspace/code/allocator_file.h"
#include "userspace/elf/elf_layout.h"

namespace hawk {

/// What a piece of code is to a probe.
enum class CodeRole : std::uint8_t {
  kProbed,        ///< from where calls come by up to the probed instruction, and a little beyond
  kPlanned,       ///< what a plan rests on (YieldPlan::code)
  kPlannedEntry,  ///< the same, from the function's first instruction on
  kOnTheWay,      ///< of kProbed, what the programs' last look, which is at HAWK_POINT_BYTES, leaves out
};

/// Code of an allocator function that a probe rests on.
struct ProbedCode {
  std::string function;
  CodeRole role = CodeRole::kProbed;
  std::uint64_t file_offset = 0;    ///< of the first byte
  std::size_t probe_at = 0;         ///< which byte the kernel puts its breakpoint over; none of planned code
  std::vector<std::uint8_t> bytes;  ///< as the file has them
};

/// nopl, nopw, with any number of prefixes.
bool is_long_nop(std::span<const std::uint8_t> bytes);

/// Of every probe on the function, as far as the file can be read.
std::vector<ProbedCode> probed_code_of(const ElfLayout& image, const AllocatorFunction& function);

/// Whether what a process has in memory there (as many bytes) is other code than the file's. Breakpoints are no change,
/// whosever they are.
bool is_other_code(const ProbedCode& code, std::span<const std::uint8_t> memory);

/// Whether a call that comes to the first byte runs into a breakpoint of the probe's; of planned code: whether it does
/// what the file's does.
bool has_breakpoint(const ProbedCode& code, std::span<const std::uint8_t> memory);

/// Linux 6.18 and newer put a call into memory of their own in place of the breakpoint over a long nop
/// (arch/x86/kernel/ uprobes.c). Where the call that stands over the probed nop leads to; nullopt: no such call.
/// `address`: of the first byte of `memory`.
std::optional<std::uint64_t> call_over_nop(const ProbedCode& code, std::span<const std::uint8_t> memory,
                                           std::uint64_t address);

}  // namespace hawk

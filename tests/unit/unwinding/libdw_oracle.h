#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/elf/elf_image.h"
#include "userspace/unwinding/unwind_section.h"

namespace hawk::testing {

/// How a file's table compares with what libdw reads from the same file.
struct Comparison {
  std::uint64_t rows = 0;                ///< ours
  std::uint64_t libdw_rows = 0;          ///< each compared from its first to its last address
  std::uint64_t unsupported = 0;         ///< libdw's rows that no rule can express, of which ours says so
  std::uint64_t padding = 0;             ///< gaps of at most 15 bytes, which only ours covers
  std::vector<std::string> differences;  ///< "0x1234: ours ..., libdw ..."; at most 100
  std::uint64_t difference_count = 0;
};

/// Where libdw looks: .eh_frame, or .debug_frame.
enum class Oracle { kEhFrame, kDebugFrame };

/// Compares at every address at which either side's rule changes, and in between. The file must be open.
Comparison compare_with_libdw(const ElfImage& image, Oracle oracle, const UnwindTable& table, const RuleSet& rules);

/// The table of a file, as app makes it, from the section that libdw is to look at.
UnwindTable table_of(const ElfImage& image, Oracle oracle, RuleSet& rules);

/// In words: "cfa=rsp+16 rbp=*(cfa-16)".
std::string text_of(const hawk_rule& rule);

}  // namespace hawk::testing

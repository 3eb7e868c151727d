#pragma once

#include <string_view>
#include <vector>

#include "tests/unwinding/host_walk.h"
#include "userspace/attach/module_map.h"
#include "userspace/unwinding/rule_set.h"

namespace hawk {

/// The data that hawktrace would pass to the kernel about a process: its code, and the rows and rules made from the
/// files. Each file is read once, also if several processes map it.
class ProcessTables {
 public:
  ProcessTables();
  /// For the text of /proc/PID/maps. What the result refers to changes with the next call.
  HostTables of(std::string_view maps);

 private:
  /// Where the rows of a file are.
  struct StoredTable {
    std::uint64_t base_vaddr = 0;
    std::uint32_t first_row = 0, row_count = 0;
  };
  void read_table(ModuleId id);
  hawk_code_range range_of(const MappedCode& code) const;

  ModuleMap modules_;
  RuleSet rules_;
  std::vector<StoredTable> tables_;  ///< by module
  std::vector<hawk_row> rows_;       ///< of all files
  std::vector<hawk_rule> prepared_rules_;
};

}  // namespace hawk

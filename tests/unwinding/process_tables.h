#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unwinding/host_walk.h"
#include "userspace/target/mappings.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Unwind tables of files, each read once, and what user space would tell the kernel of a process that maps them.
class ProcessTables {
 public:
  /// For the text of /proc/PID/maps. What the result refers to changes with the next call.
  HostTables of(std::string_view maps);
  /// By path, of all files so far.
  const std::map<std::string, UnwindTable>& files() const { return tables_; }

 private:
  /// A loaded segment with code.
  struct Segment {
    std::uint64_t file_offset = 0, end = 0, vaddr = 0;
  };
  struct File {
    std::vector<Segment> segments;
    std::uint64_t base_vaddr = 0;
    std::uint32_t first_row = 0, row_count = 0;
  };
  /// Reads the file behind a mapping unless that has been done.
  const File& file_of(const Mapping& mapping);
  File read(const Mapping& mapping);

  RuleSet rules_;
  std::vector<hawk_rule> prepared_rules_;
  std::vector<hawk_row> rows_;  ///< of all files
  std::map<std::string, File> files_;
  std::map<std::string, UnwindTable> tables_;
};

}  // namespace hawk

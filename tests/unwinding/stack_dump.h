#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unwinding/dump.h"

namespace hawk {

/// Stack memory as a dump has it: words at multiples of anything, within the bytes that are there.
struct StackMemory {
  std::uint64_t start = 0;
  std::span<const std::uint8_t> bytes;

  /// nullopt: not all of the eight bytes are there.
  std::optional<std::uint64_t> word(std::uint64_t address) const;
};

/// One dump. Valid as long as its DumpFile.
struct StackDump {
  hawk_dump_stack registers{};
  StackMemory memory;
  std::string_view maps;  ///< of the process then; the same object for all dumps between two changes
  bool is_cut() const { return registers.stack_bytes < registers.stack_end - registers.stack_pointer; }
};

/// What one program image has written.
class DumpFile {
 public:
  /// nullopt: the file cannot be read. What follows a damaged record is left out, and damaged() says so.
  static std::optional<DumpFile> read(const std::string& path);

  const std::vector<StackDump>& dumps() const { return dumps_; }
  bool damaged() const { return damaged_; }

 private:
  /// False at the end, or where the record is damaged.
  bool take_record(std::size_t& at, std::string_view& maps);

  std::unique_ptr<std::string> content_;
  std::vector<StackDump> dumps_;
  bool damaged_ = false;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbolizer/byte_cursor.h"
#include "symbolizer/debug_sections.h"
#include "symbolizer/interval_index.h"
#include "symbolizer/unit_reader.h"

namespace hawk {

/// The line program of one unit (DWARF 5, section 6.2): address → file and line.
///
/// Only what a question needs is kept: 12 bytes for each change of file or line. libdw keeps 56 for every row, and the
/// full path of every file, as long as the file is open. Input is not trusted.
class LineTable {
 public:
  /// A place in the source. File 0 with line 0: unknown.
  struct Place {
    std::uint64_t file = 0;  ///< number for file_path()
    std::uint32_t line = 0;
    bool is_known = false;
  };

  /// That of `unit`: empty when it has none, or its header is damaged.
  explicit LineTable(const UnitReader& unit);

  /// The row that covers `address`. Runs the program at the first call.
  Place find(std::uint64_t address);
  /// File number `file`, joined with its directory and, where that is relative and the compilation directory is not,
  /// with that; "" when the table does not name it.
  std::string file_path(std::uint64_t file) const;
  std::size_t memory_bytes() const;

 private:
  struct FileName {
    std::string_view name;
    std::uint64_t directory = 0;
  };
  /// Kept in the order of addresses within its sequence.
  struct Row {
    std::uint32_t address_offset;  ///< from the start of its sequence
    std::uint32_t file;
    std::uint32_t line;
  };
  /// Rows of ascending addresses, up to an end.
  struct Sequence {
    std::uint64_t low;
    std::uint32_t first_row;
    std::uint32_t row_count;
  };
  struct State;

  bool read_header(Bytes program, const UnitReader& unit);
  void read_old_names(ByteCursor& cursor);
  void read_directories(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding);
  void read_files(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding);
  template <class Take>
  void read_names(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding, Take take);
  void run();
  bool standard(std::uint8_t opcode, ByteCursor& cursor, State& state);
  void extended(ByteCursor& cursor, State& state);
  void special(std::uint8_t opcode, State& state);
  void advance(std::uint64_t operations, State& state) const;
  void append_row(State& state);
  void end_sequence(State& state);

  std::string_view compilation_directory_;
  std::vector<std::string_view> directories_;
  std::vector<FileName> files_;
  std::uint64_t first_file_ = 1;  ///< number of files_[0]: 0 since version 5

  Bytes program_;
  std::uint8_t minimum_instruction_bytes_ = 1;
  std::uint8_t operations_per_instruction_ = 1;
  std::int8_t line_base_ = 0;
  std::uint8_t line_range_ = 0;
  std::uint8_t opcode_base_ = 0;
  std::vector<std::uint8_t> operand_counts_;  ///< of standard opcode 1 and so on

  bool ran_ = false;
  std::vector<Row> rows_;
  std::vector<Sequence> sequences_;
  IntervalIndex sequence_ranges_;
};

}  // namespace hawk

#include "symbolizer/line_table.h"

#include <dwarf.h>

#include <algorithm>
#include <utility>

namespace hawk {
namespace {

bool is_absolute(std::string_view path) { return path.starts_with('/'); }

std::string joined(std::string_view directory, std::string_view path) {
  if (directory.empty() || is_absolute(path)) return std::string(path);
  std::string whole(directory);
  if (!whole.ends_with('/')) whole += '/';
  return whole.append(path);
}

/// The text of an attribute of a directory or file.
std::string_view take_text(ByteCursor& cursor, std::uint16_t form, const UnitReader& unit, const Encoding& encoding) {
  if (form == DW_FORM_string) return cursor.text();
  const std::uint64_t offset = take_form(cursor, form, encoding);
  if (form == DW_FORM_line_strp) return ByteCursor(part_of(unit.sections().line_str, offset)).text();
  if (form == DW_FORM_strp) return ByteCursor(part_of(unit.sections().str, offset)).text();
  return {};
}

}  // namespace

/// The registers of the state machine, and the sequence that is being made.
struct LineTable::State {
  std::uint64_t address = 0;
  std::uint64_t operation = 0;
  std::uint64_t file = 1;
  std::uint64_t line = 1;
  std::vector<std::pair<std::uint64_t, Row>> rows{};  ///< with their addresses
  bool is_sorted = true;

  void reset() {
    address = 0;
    operation = 0;
    file = 1;
    line = 1;
    rows.clear();
    is_sorted = true;
  }
};

LineTable::LineTable(const UnitReader& unit) {
  const Entry& own = unit.own_entry();
  if (own.tag == 0 || !own.has(Slot::kLineProgram)) return;
  compilation_directory_ = unit.text(own, Slot::kDirectory);
  if (read_header(part_of(unit.sections().line, own.value(Slot::kLineProgram)), unit)) return;
  program_ = {};
  files_.clear();
}

bool LineTable::read_header(Bytes program, const UnitReader& unit) {
  ByteCursor start(program);
  Encoding encoding = unit.header().encoding;
  const std::uint64_t length = start.unit_length(encoding.offset_bytes);
  if (!start.ok() || length > start.left()) return false;
  ByteCursor cursor(part_of(program, program.size() - start.left(), length));
  encoding.version = cursor.u16();
  if (encoding.version < 2 || encoding.version > 5) return false;
  if (encoding.version >= 5) {
    encoding.address_bytes = cursor.u8();
    if (cursor.u8() != 0) return false;  // segments: no machine that we know has them
  }
  const std::uint64_t header_length = cursor.number(encoding.offset_bytes);
  if (!cursor.ok() || header_length > cursor.left()) return false;
  const Bytes rest(cursor.position(), cursor.left());
  program_ = part_of(rest, header_length);
  ByteCursor header(part_of(rest, 0, header_length));
  minimum_instruction_bytes_ = header.u8();
  if (encoding.version >= 4) operations_per_instruction_ = std::max<std::uint8_t>(header.u8(), 1);
  header.u8();  // default_is_stmt: an address has its line whether a debugger would stop there or not
  line_base_ = static_cast<std::int8_t>(header.u8());
  line_range_ = header.u8();
  opcode_base_ = header.u8();
  for (unsigned opcode = 1; opcode < opcode_base_; ++opcode) operand_counts_.push_back(header.u8());
  if (!header.ok() || line_range_ == 0 || opcode_base_ == 0) return false;
  if (encoding.version < 5) {
    read_old_names(header);
  } else {
    first_file_ = 0;
    read_directories(header, unit, encoding);
    read_files(header, unit, encoding);
  }
  return true;
}

void LineTable::read_old_names(ByteCursor& cursor) {
  directories_.emplace_back();  // number 0: the compilation directory
  while (true) {
    const std::string_view name = cursor.text();
    if (name.empty()) break;
    directories_.push_back(name);
  }
  while (true) {
    const std::string_view name = cursor.text();
    if (name.empty()) break;
    const std::uint64_t directory = cursor.uleb128();
    cursor.uleb128();  // time of modification
    cursor.uleb128();  // size
    files_.push_back({name, directory});
  }
}

template <class Take>
void LineTable::read_names(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding, Take take) {
  std::vector<std::pair<std::uint64_t, std::uint16_t>> formats(cursor.u8());
  for (auto& [content, form] : formats) {
    content = cursor.uleb128();
    form = static_cast<std::uint16_t>(std::min<std::uint64_t>(cursor.uleb128(), UINT16_MAX));
  }
  const std::uint64_t count = cursor.uleb128();
  if (formats.empty()) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t before = cursor.left();
    FileName file;
    for (const auto& [content, form] : formats) {
      if (content == DW_LNCT_path) {
        file.name = take_text(cursor, form, unit, encoding);
      } else if (content == DW_LNCT_directory_index) {
        file.directory = take_form(cursor, form, encoding);
      } else {
        take_form(cursor, form, encoding);
      }
    }
    if (!cursor.ok() || cursor.left() == before) return;  // damaged: each entry takes a byte at least
    take(file);
  }
}

void LineTable::read_directories(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding) {
  read_names(cursor, unit, encoding, [this](const FileName& directory) { directories_.push_back(directory.name); });
}

void LineTable::read_files(ByteCursor& cursor, const UnitReader& unit, const Encoding& encoding) {
  read_names(cursor, unit, encoding, [this](const FileName& file) { files_.push_back(file); });
}

std::string LineTable::file_path(std::uint64_t file) const {
  if (file - first_file_ >= files_.size()) return {};
  const FileName& found = files_[file - first_file_];
  if (found.name.empty()) return {};
  const std::string_view directory =
      found.directory < directories_.size() ? directories_[found.directory] : std::string_view{};
  const std::string path = joined(directory, found.name);
  // A relative compilation directory was made so by -fdebug-prefix-map, and so were the others: they do not build on
  // it.
  return is_absolute(compilation_directory_) ? joined(compilation_directory_, path) : path;
}

LineTable::Place LineTable::find(std::uint64_t address) {
  if (!ran_) run();
  const std::optional<std::uint32_t> index = sequence_ranges_.find(address);
  if (!index) return {};
  const Sequence& sequence = sequences_[*index];
  const auto first = rows_.begin() + sequence.first_row;
  const auto after = std::upper_bound(first, first + sequence.row_count, address - sequence.low,
                                      [](std::uint64_t offset, const Row& row) { return offset < row.address_offset; });
  if (after == first) return {};
  const Row& row = *std::prev(after);
  return {row.file, row.line, true};
}

void LineTable::run() {
  ran_ = true;
  ByteCursor cursor(program_);
  State state;
  while (!cursor.at_end()) {
    const std::uint8_t opcode = cursor.u8();
    if (opcode >= opcode_base_) {
      special(opcode, state);
    } else if (opcode == 0) {
      extended(cursor, state);
    } else if (!standard(opcode, cursor, state)) {
      // An opcode that came after us: its operands are numbers, so many as the header says.
      for (std::uint8_t i = 0; i < operand_counts_[opcode - 1u]; ++i) cursor.uleb128();
    }
  }
  rows_.shrink_to_fit();
  sequence_ranges_.seal();
}

void LineTable::advance(std::uint64_t operations, State& state) const {
  if (operations_per_instruction_ == 1) {
    state.address += minimum_instruction_bytes_ * operations;
    return;
  }
  const std::uint64_t sum = state.operation + operations;
  state.address += minimum_instruction_bytes_ * (sum / operations_per_instruction_);
  state.operation = sum % operations_per_instruction_;
}

void LineTable::special(std::uint8_t opcode, State& state) {
  const unsigned adjusted = opcode - opcode_base_;
  advance(adjusted / line_range_, state);
  state.line += static_cast<std::uint64_t>(std::int64_t{line_base_} + adjusted % line_range_);
  append_row(state);
}

bool LineTable::standard(std::uint8_t opcode, ByteCursor& cursor, State& state) {
  switch (opcode) {
    case DW_LNS_copy:
      append_row(state);
      return true;
    case DW_LNS_advance_pc:
      advance(cursor.uleb128(), state);
      return true;
    case DW_LNS_advance_line:
      state.line += static_cast<std::uint64_t>(cursor.sleb128());
      return true;
    case DW_LNS_set_file:
      state.file = cursor.uleb128();
      return true;
    case DW_LNS_const_add_pc:
      advance((255u - opcode_base_) / line_range_, state);
      return true;
    case DW_LNS_fixed_advance_pc:
      state.address += cursor.u16();
      state.operation = 0;
      return true;
    default:
      return false;
  }
}

void LineTable::extended(ByteCursor& cursor, State& state) {
  const std::uint64_t length = cursor.uleb128();
  const Bytes rest(cursor.position(), cursor.left());
  ByteCursor operation(part_of(rest, 0, length));
  cursor.skip(length);
  switch (operation.u8()) {
    case DW_LNE_end_sequence:
      end_sequence(state);
      break;
    case DW_LNE_set_address:
      state.address = operation.number(std::min<std::uint64_t>(operation.left(), sizeof state.address));
      state.operation = 0;
      break;
    case DW_LNE_define_file: {
      const std::string_view name = operation.text();
      files_.push_back({name, operation.uleb128()});
      break;
    }
    default:
      break;
  }
}

void LineTable::append_row(State& state) {
  const Row row{0, static_cast<std::uint32_t>(std::min<std::uint64_t>(state.file, UINT32_MAX)),
                static_cast<std::uint32_t>(std::min<std::uint64_t>(state.line, UINT32_MAX))};
  if (!state.rows.empty()) {
    auto& [address, last] = state.rows.back();
    if (address == state.address) {  // the later row counts
      last = row;
      return;
    }
    if (address < state.address && last.file == row.file && last.line == row.line) return;
    if (address > state.address) state.is_sorted = false;
  }
  state.rows.emplace_back(state.address, row);
}

void LineTable::end_sequence(State& state) {
  if (!state.is_sorted) {
    std::stable_sort(state.rows.begin(), state.rows.end(),
                     [](const auto& left, const auto& right) { return left.first < right.first; });
  }
  const bool is_sound = !state.rows.empty() && state.address > state.rows.front().first &&
                        state.address - state.rows.front().first <= UINT32_MAX &&
                        rows_.size() + state.rows.size() <= UINT32_MAX;
  if (is_sound) {
    const std::uint64_t low = state.rows.front().first;
    sequence_ranges_.add(low, state.address, static_cast<std::uint32_t>(sequences_.size()));
    sequences_.push_back(
        {low, static_cast<std::uint32_t>(rows_.size()), static_cast<std::uint32_t>(state.rows.size())});
    for (auto& [address, row] : state.rows) {
      row.address_offset = static_cast<std::uint32_t>(address - low);
      rows_.push_back(row);
    }
  }
  state.reset();
}

std::size_t LineTable::memory_bytes() const {
  return sizeof *this + directories_.capacity() * sizeof(std::string_view) + files_.capacity() * sizeof(FileName) +
         rows_.capacity() * sizeof(Row) + sequences_.capacity() * sizeof(Sequence) + sequence_ranges_.memory_bytes();
}

}  // namespace hawk

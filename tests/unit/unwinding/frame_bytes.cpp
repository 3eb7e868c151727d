#include "tests/unit/unwinding/frame_bytes.h"

#include <fmt/core.h>

#include "tests/unit/unwinding/libdw_oracle.h"

namespace hawk::testing {

Bytes joined(std::initializer_list<Bytes> pieces) {
  Bytes all;
  for (const Bytes& piece : pieces) append(all, piece);
  return all;
}

void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

Bytes little_endian(std::uint64_t value, int bytes) {
  Bytes result;
  for (int i = 0; i < bytes; ++i) result.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return result;
}

Bytes uleb(std::uint64_t value) {
  Bytes result;
  for (; value >= 0x80; value >>= 7) result.push_back(static_cast<std::uint8_t>(value | 0x80));
  result.push_back(static_cast<std::uint8_t>(value));
  return result;
}

Bytes sleb(std::int64_t value) {
  Bytes result;
  for (; value < -0x40 || value >= 0x40; value >>= 7) result.push_back(static_cast<std::uint8_t>(value | 0x80));
  result.push_back(static_cast<std::uint8_t>(value & 0x7f));
  return result;
}

Bytes with_block(Bytes instruction, const Bytes& expression) {
  return joined({std::move(instruction), uleb(expression.size()), expression});
}

void FrameBytes::add_record(std::uint64_t id, const Bytes& body, bool is_long) {
  const int id_bytes = is_long && is_debug_frame_ ? 8 : 4;
  const std::uint64_t length = static_cast<std::uint64_t>(id_bytes) + body.size();
  if (is_long) add_raw({0xff, 0xff, 0xff, 0xff});
  add_raw(little_endian(length, is_long ? 8 : 4));
  add_raw(little_endian(id, id_bytes));
  add_raw(body);
}

std::uint64_t FrameBytes::add_common(const CommonBytes& common, bool is_long) {
  const std::uint64_t at = bytes_.size();
  Bytes body = {common.version};
  body.insert(body.end(), common.augmentation.begin(), common.augmentation.end());
  body.push_back(0);
  if (common.version == 4) append(body, {8, 0});
  body = joined({body, uleb(common.code_alignment), sleb(common.data_alignment), uleb(common.return_address_column)});
  if (common.augmentation.starts_with("z")) body = with_block(body, common.augmentation_data);
  add_record(is_debug_frame_ ? UINT64_MAX : 0, joined({body, common.instructions}), is_long);
  return at;
}

void FrameBytes::add_raw_function(std::uint64_t common, const Bytes& body, bool is_long) {
  const std::uint64_t id_at = bytes_.size() + (is_long ? 12 : 4);
  add_record(is_debug_frame_ ? common : id_at - common, body, is_long);
}

void FrameBytes::add_function(std::uint64_t common, std::uint64_t begin, std::uint64_t bytes, const Bytes& instructions,
                              bool is_long) {
  if (is_debug_frame_) {
    add_raw_function(common, joined({little_endian(begin, 8), little_endian(bytes, 8), instructions}), is_long);
    return;
  }
  const std::uint64_t begin_at = next_begin_vaddr() + (is_long ? 8 : 0);
  add_raw_function(common, joined({little_endian(begin - begin_at, 4), little_endian(bytes, 4), {0}, instructions}),
                   is_long);
}

Rows rows_of(const UnwindTable& table, const RuleSet& rules) {
  std::vector<std::string> rows;
  for (const hawk_row& row : table.rows) {
    rows.push_back(fmt::format("{:#x} {}", row.offset, text_of(rules.rules()[row.rule])));
  }
  return rows;
}

Rows rows_of(const FrameBytes& bytes) {
  RuleSet rules;
  return rows_of(read_unwind_table(bytes.section(), rules), rules);
}

Rows rows_of_function(const Bytes& instructions, const CommonBytes& common) {
  FrameBytes bytes;
  bytes.add_function(bytes.add_common(common), 0x1000, 0x100, instructions);
  return rows_of(bytes);
}

std::string rule_after(const Bytes& instructions, const CommonBytes& common) {
  const std::vector<std::string> rows = rows_of_function(instructions, common);
  if (rows.size() < 2) return "no rows";
  const std::string& last = rows[rows.size() - 2];
  return last.substr(last.find(' ') + 1);
}

UnwindTable table_of(const FrameBytes& bytes) {
  RuleSet rules;
  return read_unwind_table(bytes.section(), rules);
}

}  // namespace hawk::testing

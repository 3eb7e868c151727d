#include "symbolizer/line_header.h"

#include <dwarf.h>

namespace hawk {

bool line_header_is_sound(Dwarf_Die* unit, Bytes lines) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0) return false;
  const Bytes program = part_of(lines, offset);
  ByteCursor start(program);
  bool is_64_bit = false;
  const std::uint64_t length = start.initial_length(is_64_bit);
  if (!start.ok() || length > start.left()) return false;
  ByteCursor cursor(part_of(program, program.size() - start.left(), length));
  const std::uint16_t version = cursor.number<std::uint16_t>();
  constexpr std::uint64_t kAddressAndSegmentSizes = 2;  // since version 5
  if (version >= 5) cursor.skip(kAddressAndSegmentSizes);
  const std::uint64_t header_length = cursor.number(is_64_bit ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  return cursor.ok() && header_length <= cursor.left();
}

}  // namespace hawk

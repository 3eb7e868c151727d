#include "symbolizer/line_header.h"

#include <dwarf.h>
#include <libelf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace hawk {
namespace {

/// The content of .debug_line, as libdw reads it: decompressed when the file was opened.
std::string_view debug_line(Elf* elf) {
  std::size_t names = 0;
  if (elf == nullptr || elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    const Elf64_Shdr* header = elf64_getshdr(section);
    const char* name = header != nullptr ? elf_strptr(elf, names, header->sh_name) : nullptr;
    if (name == nullptr || (std::strcmp(name, ".debug_line") != 0 && std::strcmp(name, ".zdebug_line") != 0)) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return {};
    return {static_cast<const char*>(data->d_buf), data->d_size};
  }
  return {};
}

/// Takes a little-endian number of `bytes` bytes off the front of `from`; nullopt when it is too short.
std::optional<std::uint64_t> take(std::string_view& from, std::size_t bytes) {
  if (from.size() < bytes) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, from.data(), bytes);
  from.remove_prefix(bytes);
  return value;
}

/// A length in the initial-length form (section 7.4): four bytes, or 0xffffffff and eight. Sets `offset_bytes` to the
/// size of offsets that follows from it.
std::optional<std::uint64_t> take_unit_length(std::string_view& from, std::size_t& offset_bytes) {
  offset_bytes = 4;
  const std::optional<std::uint64_t> length = take(from, 4);
  if (!length || *length != 0xffffffff) return length;
  offset_bytes = 8;
  return take(from, 8);
}

}  // namespace

bool line_header_is_sound(Dwarf_Die* unit) {
  Dwarf_Attribute attribute;
  Dwarf_Word offset = 0;
  if (dwarf_formudata(dwarf_attr(unit, DW_AT_stmt_list, &attribute), &offset) != 0) return false;
  std::string_view program = debug_line(dwarf_getelf(dwarf_cu_getdwarf(unit->cu)));
  if (offset > program.size()) return false;
  program.remove_prefix(offset);
  std::size_t offset_bytes = 0;
  const std::optional<std::uint64_t> length = take_unit_length(program, offset_bytes);
  if (!length || *length > program.size()) return false;
  program = program.substr(0, *length);
  const std::optional<std::uint64_t> version = take(program, 2);
  constexpr std::size_t kAddressAndSegmentSizes = 2;  // since version 5
  if (!version || (*version >= 5 && !take(program, kAddressAndSegmentSizes))) return false;
  const std::optional<std::uint64_t> header_length = take(program, offset_bytes);
  return header_length && *header_length <= program.size();
}

}  // namespace hawk

#include "symbolizer/section_sizes.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <string_view>

namespace hawk {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{768} << 20;
/// What need not be in proportion to the file.
constexpr std::uint64_t kAlwaysBytes = std::uint64_t{64} << 20;
/// Debug information is compressed to a fifth of its size, at best to a tenth.
constexpr std::uint64_t kMostInflation = 64;

/// How many bytes a section says that it holds, decompressed. nullopt: it is not compressed.
std::optional<std::uint64_t> inflated_bytes(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  GElf_Chdr compression;
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    return gelf_getchdr(section, &compression) == nullptr ? 0 : compression.ch_size;
  }
  if (!name.starts_with(".z")) return std::nullopt;
  // "ZLIB" and eight bytes, the most significant one first.
  constexpr std::size_t kHeaderBytes = 12;
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_size < kHeaderBytes) return 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 4; i < kHeaderBytes; ++i) bytes = bytes << 8 | static_cast<const std::uint8_t*>(data->d_buf)[i];
  return bytes;
}

}  // namespace

std::optional<std::uint64_t> memory_for_sections(Elf* elf, std::uint64_t file_bytes, bool is_mapped) {
  const std::uint64_t most_inflated = std::max(kAlwaysBytes, kMostInflation * std::min(file_bytes, kMostBytes));
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return 0;
  std::uint64_t needed = 0;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* text = elf_strptr(elf, names, header.sh_name);
    const std::string_view name = text == nullptr ? std::string_view{} : text;
    if (!name.starts_with(".debug_") && !name.starts_with(".zdebug_")) continue;
    const std::optional<std::uint64_t> inflated = inflated_bytes(section, header, name);
    if (inflated.value_or(0) > most_inflated) return std::nullopt;
    needed += inflated ? *inflated : is_mapped ? 0 : std::min<std::uint64_t>(header.sh_size, file_bytes);
    if (needed > std::min(most_inflated, kMostBytes)) return std::nullopt;
  }
  return needed;
}

}  // namespace hawk

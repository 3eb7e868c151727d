#include "symbolizer/section_sizes.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace hawk {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{768} << 20;
/// What need not be in proportion to the file.
constexpr std::uint64_t kAlwaysBytes = std::uint64_t{64} << 20;
/// Debug information is compressed to a fifth of its size, at best to a tenth.
constexpr std::uint64_t kMostInflation = 64;

/// How many bytes a section says that it holds, decompressed. nullopt: it is not compressed.
std::optional<std::uint64_t> inflated_bytes(const ElfFile& file, const Elf64_Shdr& header, std::string_view name) {
  const auto beginning = [&](std::size_t bytes) {
    return file.raw(header.sh_offset, std::min<std::uint64_t>(bytes, header.sh_size));
  };
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    const std::vector<std::uint8_t> bytes = beginning(sizeof(Elf64_Chdr));
    return ByteCursor(bytes).number<Elf64_Chdr>().ch_size;
  }
  if (!name.starts_with(".z")) return std::nullopt;
  // "ZLIB" and eight bytes, the most significant one first.
  constexpr std::size_t kHeaderBytes = 12;
  const std::vector<std::uint8_t> bytes = beginning(kHeaderBytes);
  std::uint64_t inflated = 0;
  for (const std::uint8_t byte : part_of(bytes, kHeaderBytes - sizeof inflated)) inflated = inflated << 8 | byte;
  return inflated;
}

}  // namespace

DebugSection debug_section(std::string_view name) {
  constexpr std::array<std::string_view, 6> kUnused = {"frame", "loc", "loclists", "macinfo", "macro", "pubnames"};
  constexpr std::string_view kSplit = ".dwo";
  for (const std::string_view prefix : {".debug_", ".zdebug_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    if (name.ends_with(kSplit)) name.remove_suffix(kSplit.size());
    const bool is_unused = std::find(kUnused.begin(), kUnused.end(), name) != kUnused.end();
    return is_unused ? DebugSection::kUnused : DebugSection::kUsed;
  }
  return DebugSection::kNone;
}

std::optional<std::uint64_t> memory_for_sections(const ElfFile& file) {
  const std::uint64_t file_bytes = file.size_bytes();
  const std::uint64_t most_inflated = std::max(kAlwaysBytes, kMostInflation * std::min(file_bytes, kMostBytes));
  std::uint64_t needed = 0;
  for (const Elf64_Shdr& header : file.sections().headers()) {
    const std::string_view name = file.sections().name_of(header);
    if (header.sh_type == SHT_NOBITS || debug_section(name) != DebugSection::kUsed) continue;
    const std::optional<std::uint64_t> inflated = inflated_bytes(file, header, name);
    if (inflated.value_or(0) > most_inflated) return std::nullopt;
    needed += inflated ? *inflated : file.is_mapped() ? 0 : std::min<std::uint64_t>(header.sh_size, file_bytes);
    if (needed > std::min(most_inflated, kMostBytes)) return std::nullopt;
  }
  return needed;
}

}  // namespace hawk

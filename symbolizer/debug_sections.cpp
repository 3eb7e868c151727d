#include "symbolizer/debug_sections.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

namespace hawk {
namespace {

struct NamedSection {
  std::string_view name;  ///< without ".debug_" or, where GNU tools compressed it in their old way, ".zdebug_"
  Bytes DebugSections::*bytes;
};

constexpr std::array<NamedSection, 9> kSections = {{{"abbrev", &DebugSections::abbrev},
                                                    {"aranges", &DebugSections::aranges},
                                                    {"line", &DebugSections::line},
                                                    {"str", &DebugSections::str},
                                                    {"line_str", &DebugSections::line_str},
                                                    {"str_offsets", &DebugSections::str_offsets},
                                                    {"addr", &DebugSections::addr},
                                                    {"ranges", &DebugSections::ranges},
                                                    {"rnglists", &DebugSections::rnglists}}};

/// Chromium's debug file, one of the largest, needs a third of that.
constexpr std::uint64_t kMostBytes = std::uint64_t{512} << 20;
/// What need not be in proportion to the file.
constexpr std::uint64_t kAlwaysBytes = std::uint64_t{64} << 20;
/// Debug information is compressed to a fifth of its size, at best to a tenth.
constexpr std::uint64_t kMostInflation = 64;

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {".debug_", ".zdebug_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

bool is_ours(Elf* elf) {
  static_assert(std::endian::native == std::endian::little);
  std::size_t ident_bytes = 0;
  const char* ident = elf_getident(elf, &ident_bytes);
  return ident != nullptr && ident_bytes >= EI_NIDENT && ident[EI_DATA] == ELFDATA2LSB;
}

/// Calls `visit(section, header, name)` for all debug sections that the file has content of; `name` without prefix.
template <class Visit>
void for_each_section(Elf* elf, Visit visit) {
  std::size_t names = 0;
  if (!is_ours(elf) || elf_getshdrstrndx(elf, &names) != 0) return;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr && !without_prefix(name).empty()) visit(section, header, std::string_view(name));
  }
}

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

/// The content of a section, decompressed in memory.
Bytes content_of(Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    if (elf_compress(section, 0, 0) < 0) return {};
  } else if (name.starts_with(".z") && elf_compress_gnu(section, 0, 0) < 0) {
    return {};
  }
  const Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr) return {};
  return {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
}

/// The zlib stream of a section that is compressed so, and the size that its header promises.
std::optional<InfoSection> deflated(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  GElf_Chdr compression;
  if ((header.sh_flags & SHF_COMPRESSED) == 0 || gelf_getchdr(section, &compression) == nullptr) return std::nullopt;
  const Elf_Data* data = elf_rawdata(section, nullptr);
  if (compression.ch_type != ELFCOMPRESS_ZLIB || data == nullptr || data->d_buf == nullptr) return std::nullopt;
  const Bytes raw(static_cast<const std::uint8_t*>(data->d_buf), data->d_size);
  const std::size_t header_bytes = gelf_getclass(elf) == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
  return InfoSection(part_of(raw, header_bytes), compression.ch_size);
}

}  // namespace

DebugSections DebugSections::of(Elf* elf) {
  DebugSections sections;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    for (const NamedSection& known : kSections) {
      if (without_prefix(name) == known.name) sections.*known.bytes = content_of(section, header, name);
    }
  });
  return sections;
}

bool fits_into_memory(Elf* elf, std::uint64_t file_bytes, bool is_mapped) {
  const std::uint64_t most_inflated = std::max(kAlwaysBytes, kMostInflation * std::min(file_bytes, kMostBytes));
  bool fits = true;
  std::uint64_t needed = 0;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    const std::optional<std::uint64_t> inflated = inflated_bytes(section, header, name);
    fits = fits && inflated.value_or(0) <= most_inflated;
    const bool is_info = without_prefix(name) == "info";
    const bool is_read = std::any_of(kSections.begin(), kSections.end(),
                                     [&](const NamedSection& known) { return without_prefix(name) == known.name; });
    if (!fits || (!is_read && !is_info)) return;
    // .debug_info is inflated part by part, if by zlib.
    if (is_info && inflated && deflated(elf, section, header)) return;
    needed += inflated ? *inflated : is_mapped ? 0 : std::min<std::uint64_t>(header.sh_size, file_bytes);
    fits = needed <= std::min(most_inflated, kMostBytes);
  });
  return fits;
}

InfoSection info_section_of(Elf* elf) {
  std::optional<InfoSection> info;
  for_each_section(elf, [&](Elf_Scn* section, const GElf_Shdr& header, std::string_view name) {
    if (without_prefix(name) != "info" || info) return;
    info = deflated(elf, section, header);
    if (!info) info.emplace(content_of(section, header, name));
  });
  return info ? std::move(*info) : InfoSection(Bytes{});
}

}  // namespace hawk

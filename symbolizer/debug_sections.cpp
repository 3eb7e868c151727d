#include "symbolizer/debug_sections.h"

#include <elf.h>
#include <gelf.h>

#include <array>
#include <bit>
#include <string_view>

namespace hawk {
namespace {

struct NamedSection {
  std::string_view name;  ///< without ".debug_" or, where GNU tools compressed it in their old way, ".zdebug_"
  Bytes DebugSections::*bytes;
};

constexpr std::array<NamedSection, 10> kSections = {{{"info", &DebugSections::info},
                                                     {"abbrev", &DebugSections::abbrev},
                                                     {"aranges", &DebugSections::aranges},
                                                     {"line", &DebugSections::line},
                                                     {"str", &DebugSections::str},
                                                     {"line_str", &DebugSections::line_str},
                                                     {"str_offsets", &DebugSections::str_offsets},
                                                     {"addr", &DebugSections::addr},
                                                     {"ranges", &DebugSections::ranges},
                                                     {"rnglists", &DebugSections::rnglists}}};

std::string_view without_prefix(std::string_view name) {
  for (const std::string_view prefix : {".debug_", ".zdebug_"}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return {};
}

}  // namespace

DebugSections DebugSections::of(Elf* elf) {
  static_assert(std::endian::native == std::endian::little);
  DebugSections sections;
  std::size_t ident_bytes = 0;
  const char* ident = elf_getident(elf, &ident_bytes);
  std::size_t names = 0;
  if (ident == nullptr || ident_bytes < EI_NIDENT || ident[EI_DATA] != ELFDATA2LSB) return sections;
  if (elf_getshdrstrndx(elf, &names) != 0) return sections;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* full_name = elf_strptr(elf, names, header.sh_name);
    const std::string_view name = full_name == nullptr ? std::string_view{} : without_prefix(full_name);
    for (const NamedSection& known : kSections) {
      if (name != known.name || (header.sh_flags & SHF_COMPRESSED) != 0) continue;
      const Elf_Data* data = elf_getdata(section, nullptr);
      if (data == nullptr || data->d_buf == nullptr) continue;
      sections.*known.bytes = {static_cast<const std::uint8_t*>(data->d_buf), data->d_size};
    }
  }
  return sections;
}

}  // namespace hawk

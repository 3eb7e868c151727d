#include "symbolizer/dwarf_file.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "symbolizer/section_sizes.h"
#include "userspace/elf/arch/x86_64/machine.h"

namespace hawk {
namespace {

/// Of the type that libdw declares: [[noreturn]] is no part of a type.
__attribute__((noreturn)) void out_of_memory() { throw std::bad_alloc(); }

/// An ELF image with one debug section of one byte, which libdw takes for DWARF that knows nothing.
struct EmptyImage {
  static constexpr std::size_t kNamesBytes = 32;

  Elf64_Ehdr header{};
  std::array<char, kNamesBytes> names{"\0.debug_frame\0.shstrtab"};
  std::array<Elf64_Shdr, 3> sections{};

  EmptyImage() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_REL;
    header.e_machine = arch::kElfMachine;
    header.e_version = EV_CURRENT;
    header.e_shoff = offsetof(EmptyImage, sections);
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof sections[0];
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shstrndx = 2;
    constexpr Elf64_Word kFrame = 1;
    constexpr Elf64_Word kNames = 14;
    sections[1].sh_name = kFrame;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = offsetof(EmptyImage, names);
    sections[1].sh_size = 1;
    sections[2].sh_name = kNames;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = offsetof(EmptyImage, names);
    sections[2].sh_size = kNamesBytes;
  }
};

/// What stands for an alternate file that is not there, so that libdw does not go and look for one.
Dwarf* empty_dwarf() {
  struct Empty {
    EmptyImage image;
    ElfPtr elf{elf_memory(reinterpret_cast<char*>(&image), sizeof image)};
    DwarfPtr dwarf{dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr)};
  };
  static Empty empty;
  return empty.dwarf.get();
}

}  // namespace

std::optional<DwarfFile> DwarfFile::open(const ElfFile& file, const DwarfFile* alternate) {
  DwarfFile opened(file, alternate);
  if (!opened.begin()) return std::nullopt;
  opened.list_units();
  if (opened.units_.empty()) return std::nullopt;
  opened.line_ = file.section(".debug_line");  // decompressed by now
  if (opened.line_.empty()) opened.line_ = file.section(".zdebug_line");
  return opened;
}

bool DwarfFile::begin() {
  Dwarf* none = empty_dwarf();
  if (none == nullptr) return false;
  const ElfSections& sections = file_->sections();
  for (std::size_t number = 0; number < sections.headers().size(); ++number) {
    const std::string_view name = sections.name_of(sections.headers()[number]);
    if (debug_section(name) == DebugSection::kUnused) file_->hide_from_libdw(number);
  }
  dwarf_.reset(dwarf_begin_elf(file_->elf(), DWARF_C_READ, nullptr));
  if (!dwarf_) return false;
  dwarf_new_oom_handler(dwarf_.get(), out_of_memory);
  dwarf_setalt(dwarf_.get(), alternate_ != nullptr ? alternate_->dwarf() : none);
  return true;
}

bool DwarfFile::renew() {
  dwarf_.reset();
  return begin();
}

void DwarfFile::list_units() {
  UnitSpan unit;
  std::size_t header_bytes = 0;
  while (dwarf_next_unit(dwarf_.get(), unit.begin, &unit.end, &header_bytes, nullptr, nullptr, nullptr, nullptr,
                         nullptr, nullptr) == 0 &&
         unit.end > unit.begin) {
    unit.first_entry = unit.begin + header_bytes;
    units_.push_back(unit);
    unit.begin = unit.end;
  }
  units_.shrink_to_fit();
}

std::optional<std::uint32_t> DwarfFile::unit_around(Dwarf_Off offset) const {
  const auto after = std::upper_bound(units_.begin(), units_.end(), offset,
                                      [](Dwarf_Off value, const UnitSpan& unit) { return value < unit.begin; });
  if (after == units_.begin() || offset >= std::prev(after)->end) return std::nullopt;
  return static_cast<std::uint32_t>(after - units_.begin() - 1);
}

}  // namespace hawk

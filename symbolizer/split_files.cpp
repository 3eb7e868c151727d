#include "symbolizer/split_files.h"

#include <dwarf.h>
#include <elfutils/version.h>
#include <fmt/core.h>

#include <utility>

#include "symbolizer/section_sizes.h"

namespace hawk {
namespace {

std::string text_of(Dwarf_Die* entry, std::initializer_list<unsigned> names) {
  for (const unsigned name : names) {
    Dwarf_Attribute attribute;
    const char* text = dwarf_formstring(dwarf_attr(entry, name, &attribute));
    if (text != nullptr) return text;
  }
  return {};
}

/// `section` from the offset on that an attribute of `entry` gives, by one of its names; all of it when there is none.
Bytes from_base(Bytes section, Dwarf_Die* entry, std::initializer_list<unsigned> names) {
  for (const unsigned name : names) {
    Dwarf_Attribute attribute;
    Dwarf_Word base = 0;
    if (dwarf_formudata(dwarf_attr(entry, name, &attribute), &base) == 0) return part_of(section, base);
  }
  return section;
}

/// The part of .debug_rnglists.dwo that belongs to `unit`: in a package, one of many.
Bytes range_lists_of([[maybe_unused]] Dwarf_CU* unit, Bytes section) {
  Dwarf_Off offset = 0;
  Dwarf_Off size = 0;
#if _ELFUTILS_PREREQ(0, 192)
  if (dwarf_cu_dwp_section_info(unit, DW_SECT_RNGLISTS, &offset, &size) != 0) return {};
#endif
  return size == 0 ? section : part_of(section, offset, size);
}

/// Before 0.192 libdw takes the first unit of a package for all.
constexpr bool reads_packages() { return _ELFUTILS_PREREQ(0, 192); }

}  // namespace

std::optional<SplitUnit> SplitFiles::find(Dwarf_Die* skeleton) {
  std::uint8_t type = 0;
  std::uint64_t id = 0;
  // No entry of the split half is asked for here, and nowhere else: libdw would open it.
  if (dwarf_cu_info(skeleton->cu, nullptr, &type, nullptr, nullptr, &id, nullptr, nullptr) != 0) return std::nullopt;
  if (type != DW_UT_skeleton) return std::nullopt;
  for (const std::string& path : paths_of(skeleton)) {
    const File* file = open(path);
    std::optional<SplitUnit> unit = file == nullptr ? std::nullopt : unit_of(*file, id);
    if (!unit) continue;
    connect(skeleton, *unit);
    return unit;
  }
  if (gap_.empty()) {
    gap_ = fmt::format("its debug information is incomplete: {} is missing or does not belong to it",
                       text_of(skeleton, {DW_AT_dwo_name, DW_AT_GNU_dwo_name}));
  }
  return std::nullopt;
}

void SplitFiles::release() const {
  for (const auto& [path, file] : files_) {
    if (file) file->image.release();
  }
}

void SplitFiles::drop() {
  files_.clear();
  memory_bytes_ = 0;
}

std::vector<std::string> SplitFiles::paths_of(Dwarf_Die* skeleton) const {
  std::vector<std::string> paths;
  if (reads_packages()) paths.push_back(rooted_.path + ".dwp");
  const std::string name = text_of(skeleton, {DW_AT_dwo_name, DW_AT_GNU_dwo_name});
  const std::string directory = text_of(skeleton, {DW_AT_comp_dir});
  if (name.starts_with('/')) {
    paths.push_back(name);
  } else if (!name.empty()) {
    paths.push_back(fmt::format("{}/{}", rooted_.path.substr(0, rooted_.path.rfind('/')), name));
    if (directory.starts_with('/')) paths.push_back(fmt::format("{}/{}", directory, name));
  }
  return paths;
}

SplitFiles::File* SplitFiles::open(const std::string& path) {
  const auto known = files_.find(path);
  if (known != files_.end()) return known->second.get();
  if (files_.size() >= 2 * kMostFiles) return nullptr;
  std::unique_ptr<File>& opened = files_[path];
  std::optional<ElfFile> image = find_named_file(path, rooted_);
  if (!image) return nullptr;
  const std::optional<std::uint64_t> bytes = memory_for_sections(*image);
  if (!bytes) return nullptr;
  auto file = std::make_unique<File>(File{std::move(*image)});
  file->dwarf = DwarfFile::open(file->image, nullptr);
  if (!file->dwarf) return nullptr;
  const std::vector<UnitSpan>& units = file->dwarf->units();
  for (std::uint32_t number = 0; number < units.size(); ++number) {
    Dwarf_Die entry;
    std::uint8_t type = 0;
    std::uint64_t id = 0;
    if (dwarf_offdie(file->dwarf->dwarf(), units[number].first_entry, &entry) == nullptr) continue;
    if (dwarf_cu_info(entry.cu, nullptr, &type, nullptr, nullptr, &id, nullptr, nullptr) != 0) continue;
    if (type == DW_UT_split_compile) file->units.try_emplace(id, number);
  }
  memory_bytes_ += *bytes;
  opened = std::move(file);
  return opened.get();
}

std::optional<SplitUnit> SplitFiles::unit_of(const File& file, std::uint64_t id) const {
  const auto found = file.units.find(id);
  SplitUnit unit;
  if (found == file.units.end()) return std::nullopt;
  const UnitSpan& span = file.dwarf->units()[found->second];
  if (dwarf_offdie(file.dwarf->dwarf(), span.first_entry, &unit.entry) == nullptr) return std::nullopt;
  unit.addresses.unit_end = static_cast<const std::uint8_t*>(unit.entry.addr) + (span.end - span.first_entry);
  unit.addresses.range_lists = range_lists_of(unit.entry.cu, file.image.section(".debug_rnglists.dwo"));
  dwarf_cu_info(unit.entry.cu, nullptr, nullptr, nullptr, nullptr, nullptr, &unit.addresses.address_bytes,
                &unit.addresses.offset_bytes);
  return unit;
}

void SplitFiles::connect(Dwarf_Die* skeleton, SplitUnit& unit) const {
  Dwarf_Addr low = 0;
  if (dwarf_lowpc(skeleton, &low) == 0) unit.addresses.low = low;
  unit.addresses.addresses =
      from_base(linked_->section(".debug_addr"), skeleton, {DW_AT_addr_base, DW_AT_GNU_addr_base});
  unit.addresses.pairs = from_base(linked_->section(".debug_ranges"), skeleton, {DW_AT_GNU_ranges_base});
}

}  // namespace hawk

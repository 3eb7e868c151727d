#include "tests/unwinding/process_tables.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <sys/auxv.h>

#include <cstring>
#include <memory>

#include "userspace/base/check.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

struct ElfEnder {
  void operator()(Elf* elf) const { ::elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnder>;

/// The file behind a mapping; the vdso is this process' own. `fd` keeps it open.
ElfHandle open_elf(const Mapping& mapping, UniqueFd& fd) {
  ::elf_version(EV_CURRENT);
  if (mapping.path == "[vdso]") {
    return ElfHandle(::elf_memory(reinterpret_cast<char*>(::getauxval(AT_SYSINFO_EHDR)), mapping.end - mapping.start));
  }
  fd = UniqueFd(::open(mapping.path.c_str(), O_RDONLY | O_CLOEXEC));
  return ElfHandle(fd ? ::elf_begin(fd.get(), ELF_C_READ_MMAP, nullptr) : nullptr);
}

UnwindTable read_section(Elf* elf, const char* wanted, RuleSet& rules) {
  std::size_t names = 0;
  if (::elf_getshdrstrndx(elf, &names) != 0) return {};
  for (Elf_Scn* section = nullptr; (section = ::elf_nextscn(elf, section));) {
    GElf_Shdr header;
    if (!::gelf_getshdr(section, &header)) continue;
    const char* name = ::elf_strptr(elf, names, header.sh_name);
    if (!name || std::strcmp(name, wanted) != 0 || header.sh_type == SHT_NOBITS) continue;
    const Elf_Data* data = ::elf_rawdata(section, nullptr);
    HAWK_CHECK(data, "a section's bytes");
    return read_unwind_table({.bytes = {static_cast<const std::uint8_t*>(data->d_buf), data->d_size},
                              .vaddr = header.sh_addr,
                              .is_debug_frame = std::strcmp(wanted, ".debug_frame") == 0},
                             rules);
  }
  return {};
}

}  // namespace

ProcessTables::File ProcessTables::read(const Mapping& mapping) {
  UniqueFd fd;
  const ElfHandle elf = open_elf(mapping, fd);
  File file;
  std::size_t segments = 0;
  if (!elf || ::elf_getphdrnum(elf.get(), &segments) != 0) return file;
  for (std::size_t number = 0; number < segments; ++number) {
    GElf_Phdr header;
    if (::gelf_getphdr(elf.get(), static_cast<int>(number), &header) && header.p_type == PT_LOAD &&
        header.p_flags & PF_X)
      file.segments.push_back({header.p_offset, header.p_offset + header.p_filesz, header.p_vaddr});
  }
  UnwindTable& table = tables_[mapping.path] = read_section(elf.get(), ".eh_frame", rules_);
  file.base_vaddr = table.base_vaddr;
  file.first_row = static_cast<std::uint32_t>(rows_.size());
  file.row_count = static_cast<std::uint32_t>(table.rows.size());
  rows_.insert(rows_.end(), table.rows.begin(), table.rows.end());
  return file;
}

const ProcessTables::File& ProcessTables::file_of(const Mapping& mapping) {
  const auto known = files_.find(mapping.path);
  return known != files_.end() ? known->second : files_.emplace(mapping.path, read(mapping)).first->second;
}

HostTables ProcessTables::of(std::string_view maps) {
  HostTables tables;
  for (const Mapping& mapping : parse_mappings(maps)) {
    if (!mapping.executable) continue;
    const File& file = file_of(mapping);
    hawk_code_range range{};
    range.start = mapping.start;
    range.end = mapping.end;
    for (const Segment& segment : file.segments) {
      // A mapping begins at the page in which its segment begins.
      if (mapping.file_offset >= segment.end ||
          mapping.file_offset + (mapping.end - mapping.start) <= segment.file_offset)
        continue;
      range.base = mapping.start - mapping.file_offset + segment.file_offset - segment.vaddr + file.base_vaddr;
      range.first_row = file.first_row;
      range.row_count = file.row_count;
      break;
    }
    tables.ranges.push_back(range);
  }
  tables.rows = rows_;
  // As the tracer stores them.
  prepared_rules_.assign(rules_.rules().begin(), rules_.rules().end());
  for (hawk_rule& rule : prepared_rules_) rule = hawk_prepared_rule(rule);
  tables.rules = prepared_rules_;
  return tables;
}

}  // namespace hawk

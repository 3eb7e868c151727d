#include "tests/unwinding/process_tables.h"

#include <fcntl.h>
#include <unistd.h>

#include <optional>
#include <utility>

#include "bpf/arch/x86_64/registers.h"
#include "userspace/process/mappings.h"
#include "userspace/process/vdso.h"
#include "userspace/study/file_contents.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {
namespace {

UnwindTable vdso_table(RuleSet& rules) {
  Result<ElfLayout> vdso = read_vdso();
  return vdso ? read_unwind_table_of(ElfImage(std::move(*vdso)), rules) : UnwindTable{};
}

UnwindTable table_of(const MappedModule& module, RuleSet& rules) {
  if (module.is_vdso) return vdso_table(rules);
  UniqueFd fd(::fcntl(module.image->fd(), F_DUPFD_CLOEXEC, 0));
  const Result<ElfImage> image = ElfImage::make(std::move(fd), module.path);
  return image ? read_unwind_table_of(*image, rules) : UnwindTable{};
}

}  // namespace

// The processes are gone: files are opened as this one sees them.
ProcessTables::ProcessTables() : modules_(::getpid()) {}

void ProcessTables::read_table(ModuleId id) {
  const MappedModule& module = modules_.module(id);
  tables_.resize(modules_.module_count());
  if (!module.image && !module.is_vdso) return;
  const UnwindTable table = table_of(module, rules_);
  StoredTable& stored = tables_[static_cast<std::size_t>(id)];
  stored.base_vaddr = table.base_vaddr;
  stored.first_row = static_cast<std::uint32_t>(rows_.size());
  stored.row_count = static_cast<std::uint32_t>(table.rows.size());
  rows_.insert(rows_.end(), table.rows.begin(), table.rows.end());
}

hawk_code_range ProcessTables::range_of(const MappedCode& code) const {
  hawk_code_range range{};
  range.start = code.start;
  range.end = code.end;
  if (!code.bias) return range;
  const StoredTable& table = tables_[static_cast<std::size_t>(code.module)];
  range.base = code.start - (code.file_offset + *code.bias) + table.base_vaddr;
  range.first_row = table.first_row;
  range.row_count = table.row_count;
  return range;
}

HostTables ProcessTables::of(std::string_view maps) {
  modules_.forget_mappings();
  for (const Mapping& mapping : parse_mappings(maps)) {
    if (!mapping.executable) continue;
    const std::optional<ModuleId> is_new = modules_.add(mapping);
    if (!is_new) continue;
    read_table(*is_new);
    modules_.settle(*is_new);
  }
  // As the tracer stores them.
  prepared_rules_.assign(rules_.rules().begin(), rules_.rules().end());
  for (hawk_rule& rule : prepared_rules_) rule = hawk_prepared_rule(rule);
  HostTables tables{.ranges = {}, .rows = rows_, .rules = prepared_rules_};
  for (const MappedCode& code : modules_.code()) tables.ranges.push_back(range_of(code));
  return tables;
}

}  // namespace hawk

#include "userspace/study/file_contents.h"

#include <array>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/operator_frames.h"
#include "userspace/code/start_context.h"
#include "userspace/unwinding/outermost.h"
#include "userspace/unwinding/unwind_section.h"

namespace hawk {
namespace {

/// The dynamic linker allocates on behalf of an allocator: thread-local storage, symbol look-ups. It, and in musl the C
/// library that it is one file with, defines __tls_get_addr (System V ABI, thread-local storage).
constexpr std::array<std::string_view, 1> kDynamicLinkerNames = {"__tls_get_addr"};

/// A file that defines none of these functions is of no interest. Of 3,000 files nearly all are like that, so that each
/// is searched once for all names.
const NameSet& telling_names() {
  static const NameSet names = [] {
    std::vector<std::string_view> all(kDynamicLinkerNames.begin(), kDynamicLinkerNames.end());
    for (const NameSet::Entry& entry : catalogue_names().entries()) all.push_back(entry.name);
    return NameSet(all);
  }();
  return names;
}

UnwindTable table_of(const std::optional<CallFrameSection>& section, RuleSet& rules) {
  if (!section) return {};
  if (section->is_too_large) {
    UnwindTable none;
    none.unsupported["call frame information of more than 64 MiB"] = 1;
    return none;
  }
  return read_unwind_table({.bytes = section->bytes,
                            .vaddr = section->vaddr,
                            .is_debug_frame = section->is_debug_frame,
                            .ends_at_zero = section->ends_at_zero},
                           rules);
}

FileTable table_without_memory() {
  FileTable none;
  none.table.unsupported["no memory to read it"] = 1;
  return none;
}

}  // namespace

FileCode read_code(const ElfImage& image, Plans plans) {
  FileCode code;
  code.is_go = image.entry_vaddr() && image.is_go();
  if (image.functions(telling_names()).empty()) return code;
  code.is_dynamic_linker = !image.functions(kDynamicLinkerNames).empty();
  code.allocator = find_allocator_functions(image, plans);
  code.operator_frames = find_operator_frames(image);
  return code;
}

UnwindTable read_unwind_table_of(const ElfImage& image, RuleSet& rules) {
  UnwindTable table = table_of(image.eh_frame(), rules);
  if (table.rows.empty() && table.unsupported.empty()) table = table_of(image.debug_frame(), rules);
  if (const auto entry = image.entry_vaddr()) end_at_entry_point(table, *entry);
  if (const auto start = find_start_context(image)) end_at_start_of(table, *start);
  return table;
}

FileTable read_table(const ElfImage& image) {
  const auto began = std::chrono::steady_clock::now();
  try {
    RuleSet rules;
    FileTable read;
    read.table = read_unwind_table_of(image, rules);
    const std::span<const hawk_rule> own = rules.rules().subspan(HAWK_FIRST_RULE);
    read.rules.assign(own.begin(), own.end());
    read.rules_refused = rules.refused();
    read.took = std::chrono::steady_clock::now() - began;
    return read;
  } catch (const std::bad_alloc&) {
    return table_without_memory();
  }
}

}  // namespace hawk

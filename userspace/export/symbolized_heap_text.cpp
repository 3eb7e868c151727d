#include "userspace/export/symbolized_heap_text.h"

#include <string_view>

#include "userspace/base/printable.h"
#include "userspace/export/loaded_modules.h"

namespace hawk {
namespace {

/// Two hyphens are what separates the names of inlined calls.
std::string without_separators(std::string name) {
  for (std::size_t at = name.find("--"); at != std::string::npos; at = name.find("--", at)) name.insert(at + 1, " ");
  return name;
}

}  // namespace

bool SymbolizedHeapText::put_symbols() {
  const Snapshot& snapshot = stacks_.snapshot();
  out_.put("--- symbol\nbinary={}\n", printable_unicode(snapshot.target().exe));
  for (const LocationId id : stacks_.locations()) {
    std::string names;
    for (const ListedFrame& call : stacks_.calls_at(id)) {
      // A caller stands before what is inlined into it.
      names.insert(0, without_separators(stacks_.name_of(call)) + (names.empty() ? "" : "--"));
    }
    put_symbol(call_address(snapshot.location(id)), names);
    if (!out_.go_on()) return false;
  }
  for (const ListedFrame* placeholder : {&stacks_.no_stack(), &stacks_.truncated()}) {
    put_symbol(placeholder_address(*placeholder), stacks_.name_of(*placeholder));
  }
  out_.text() += "---\n";
  return true;
}

void SymbolizedHeapText::put_symbol(std::uint64_t address, const std::string& names) {
  out_.put("{:#018x} {}\n", address, names);
}

/// In the first page, where nothing is ever mapped.
std::uint64_t SymbolizedHeapText::placeholder_address(const ListedFrame& placeholder) const {
  return stacks_.function_of(placeholder) + 1;
}

void SymbolizedHeapText::put_addresses(const StackRecord& record) {
  std::uint64_t behind = 0;
  const auto put = [&](std::uint64_t address) {
    out_.put(" {:#018x}", address + behind);
    behind = callers_ == Callers::kOneBehind ? 1 : 0;
  };
  for (const LocationId id : record.frames) {
    if (!stacks_.calls_at(id).empty()) put(call_address(stacks_.snapshot().location(id)));
  }
  const ListedFrame& outermost = *stacks_.calls(record).back();
  if (stacks_.is_placeholder(outermost)) put(placeholder_address(outermost));
}

void SymbolizedHeapText::put_mappings() {
  out_.text() += "\nMAPPED_LIBRARIES:\n";
  const LoadedModules modules(stacks_);
  for (const LoadedModule& mapped : modules.all()) {
    const Module* module = find_module(stacks_.snapshot(), mapped.module);
    if (module == nullptr) continue;
    out_.put("{:x}-{:x} r-xp {:08x} 00:00 0 {}\n", mapped.start, mapped.limit, mapped.file_offset(),
             printable_unicode(module->path));
  }
}

}  // namespace hawk

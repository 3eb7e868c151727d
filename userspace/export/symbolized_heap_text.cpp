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
  out_.put("--- symbol\nbinary={}\n", command_text(snapshot));
  for (const LocationId id : stacks_.locations()) {
    std::string names;
    for (const ListedFrame& call : stacks_.calls_at(id)) {
      // A caller stands before what is inlined into it.
      names.insert(0, without_separators(stacks_.name_of(call)) + (names.empty() ? "" : "--"));
    }
    put_symbol(address_of(id), names);
    if (!out_.go_on()) return false;
  }
  for (const ListedFrame& placeholder : stacks_.placeholders()) {
    put_symbol(placeholder_address(placeholder), stacks_.name_of(placeholder));
  }
  out_.text() += "---\n";
  return true;
}

void SymbolizedHeapText::put_symbol(std::uint64_t address, const std::string& names) {
  out_.put("{:#018x} {}\n", address, names);
}

/// Of several processes an address is that of other code in each: there it is a number.
std::uint64_t SymbolizedHeapText::address_of(LocationId id) const {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 32;
  constexpr std::uint64_t kApart = 16;
  const Snapshot& snapshot = stacks_.snapshot();
  if (snapshot.parts.empty()) return call_address(snapshot.location(id));
  return kFirst + static_cast<std::uint64_t>(id) * kApart;
}

/// In the first pages, where nothing is ever mapped.
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
    if (!stacks_.calls_at(id).empty()) put(address_of(id));
  }
  for (const ListedFrame* placeholder : stacks_.placeholders_of(record)) put(placeholder_address(*placeholder));
}

void SymbolizedHeapText::put_mappings() {
  out_.text() += "\nMAPPED_LIBRARIES:\n";
  if (!stacks_.snapshot().parts.empty()) return;  // see address_of()
  const LoadedModules modules(stacks_);
  for (const LoadedModule& mapped : modules.all()) {
    const Module* module = find_module(stacks_.snapshot(), mapped.module);
    if (module == nullptr) continue;
    out_.put("{:x}-{:x} r-xp {:08x} 00:00 0 {}\n", mapped.start, mapped.limit, mapped.file_offset(),
             printable_unicode(module->path));
  }
}

}  // namespace hawk

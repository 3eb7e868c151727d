#include "symbolizer/function_names.h"

#include <dwarf.h>

#include "symbolizer/demangle.h"

namespace hawk {
namespace {

constexpr int kLongestChain = 16;
/// Local classes inside methods of local classes: nobody goes deeper, except damaged files in circles.
constexpr int kDeepestLocality = 8;

}  // namespace

std::optional<EntryPlace> FunctionNames::origin_of(const EntryPlace& place, const Entry& entry) {
  const Reference reference = place.unit->reader().refer(entry, Slot::kOrigin);
  if (reference.to == ReferenceTo::kThisUnit) return EntryPlace{place.file, place.unit, reference.offset};
  UnitCache* file = reference.to == ReferenceTo::kThisFile    ? place.file
                    : reference.to == ReferenceTo::kAlternate ? alternate_
                                                              : nullptr;
  DwarfUnit* unit = file == nullptr ? nullptr : file->around(reference.offset);
  if (unit == nullptr) return std::nullopt;
  return EntryPlace{file, unit, reference.offset};
}

std::string_view FunctionNames::text(EntryPlace place, Slot slot) {
  Entry entry;
  for (int i = 0; i < kLongestChain && place.unit->reader().read(place.entry, entry); ++i) {
    if (entry.has(slot)) return place.unit->reader().text(entry, slot);
    const std::optional<EntryPlace> origin = origin_of(place, entry);
    if (!origin) break;
    place = *origin;
  }
  return {};
}

std::string FunctionNames::scope_name(const EntryPlace& scope, std::uint16_t tag) {
  const std::string_view name = source_name(scope);
  if (!name.empty()) return std::string(name) + "::";
  return tag == DW_TAG_namespace ? "(anonymous namespace)::" : "";
}

std::string FunctionNames::prefix_at(EntryPlace function, int depth) {
  // A concrete function or inlined call leads to the entry that stands where the source declares it.
  Entry entry;
  for (int i = 0; i < kLongestChain && function.unit->reader().read(function.entry, entry); ++i) {
    const std::optional<EntryPlace> origin = origin_of(function, entry);
    if (!origin) break;
    function = *origin;
  }
  std::string prefix;
  for (const std::uint64_t offset : function.unit->scopes_around(function.entry)) {
    const EntryPlace scope{function.file, function.unit, offset};
    if (!function.unit->reader().read(offset, entry)) break;
    if (entry.tag != DW_TAG_subprogram) {
      prefix.insert(0, scope_name(scope, entry.tag));
      continue;
    }
    // Inside a function: it knows its own scopes, and need not stand in them.
    const std::string_view linkage = linkage_name(scope);
    if (!linkage.empty()) return demangle(linkage) + "::" + prefix;
    std::string around = depth < kDeepestLocality ? prefix_at(scope, depth + 1) : std::string{};
    return around.append(scope_name(scope, entry.tag)).append(prefix);
  }
  return prefix;
}

}  // namespace hawk

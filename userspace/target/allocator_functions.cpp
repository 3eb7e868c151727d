/// Which of a file's allocator functions are probed, and where.
///
/// A block must be booked once. On the allocating side the kernel programs see to that: they book the outermost call of
/// a thread only. On the freeing side there is no such rule, because a free is booked at its entry; so a freeing
/// function that does nothing but pass its block on to another function of the catalogue must not be probed itself. The
/// same goes for C++ operators, to keep libstdc++'s wrappers, which may throw, out of it.
///
/// "Nothing but pass on" means: every path from the entry to a return leads through such a call, paths on which the
/// pointer is null aside. jemalloc's operator new has a path that retries with malloc when memory is short, but others
/// that do not; skipping it would lose all C++ allocations.
#include "userspace/target/allocator_functions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "userspace/target/allocator_catalogue.h"
#include "userspace/target/function_walk.h"
#include "userspace/target/probe_placement.h"

namespace hawk {
namespace {

/// All that the symbol tables say of one address.
struct Candidate {
  FunctionExtent extent;
  std::vector<std::string> names;
  hawk_call_kind kind = HAWK_CALL_NONE;
  bool only_operators = true;  ///< no C name among the names
  bool conflict = false;       ///< C names of different kinds
  bool may_throw = false;
};

using Candidates = std::map<std::uint64_t, Candidate>;

void add_name(Candidate& candidate, const CatalogueEntry& entry) {
  candidate.names.emplace_back(entry.name);
  candidate.may_throw = candidate.may_throw || entry.may_throw;
  if (entry.is_operator) {
    // The name of a C function, if there is one at this address, decides.
    if (candidate.only_operators) candidate.kind = entry.kind;
    return;
  }
  if (!candidate.only_operators && candidate.kind != entry.kind) candidate.conflict = true;
  candidate.kind = entry.kind;
  candidate.only_operators = false;
}

Candidates find_candidates(const ElfImage& image) {
  Candidates candidates;
  bool defines_malloc_or_free = false;
  for (const ElfFunction& function : image.functions(catalogue_names())) {
    const std::optional<CatalogueEntry> entry = find_in_catalogue(function.name);
    if (!entry) continue;
    Candidate& candidate = candidates[function.vaddr];
    candidate.extent.vaddr = function.vaddr;
    candidate.extent.size_bytes = std::max(candidate.extent.size_bytes, function.size_bytes);
    add_name(candidate, *entry);
    if (entry->name == "malloc" || entry->name == "free") defines_malloc_or_free = true;
  }
  if (!defines_malloc_or_free) {
    std::erase_if(candidates, [](const auto& item) { return item.second.only_operators; });
  }
  for (auto& [vaddr, candidate] : candidates) std::sort(candidate.names.begin(), candidate.names.end());
  return candidates;
}

bool is_forwarder(TargetResolver& resolver, const Candidates& candidates, const Candidate& candidate) {
  WalkOptions options;
  options.skip_null_argument = candidate.kind == HAWK_CALL_FREE;
  options.ends_path = [&](const CodeTarget& target) {
    if (target.vaddr == candidate.extent.vaddr) return false;
    if (target.vaddr && candidates.contains(*target.vaddr)) return true;
    return find_in_catalogue(target.name).has_value();
  };
  const FunctionWalk walk = walk_function(resolver, candidate.extent, options);
  return walk.incomplete.empty() && walk.returns.empty() && walk.ended_paths > 0;
}

/// File offsets of the function's returns, or why they cannot be had.
std::optional<std::string> find_returns(TargetResolver& resolver, const Candidate& candidate,
                                        std::vector<std::uint64_t>& return_offsets) {
  const FunctionWalk walk = walk_function(resolver, candidate.extent);
  if (!walk.incomplete.empty()) return walk.incomplete;
  for (const std::uint64_t vaddr : walk.returns) {
    if (const std::optional<std::uint64_t> offset = resolver.image().file_offset_of(vaddr)) {
      return_offsets.push_back(*offset);
    }
  }
  if (return_offsets.empty()) return "it has no return instruction";
  return std::nullopt;
}

void add_unprobed(AllocatorFile& file, const Candidate& candidate, const std::string& reason) {
  for (const std::string& name : candidate.names) file.unprobed.push_back({name, reason});
}

void add_function(TargetResolver& resolver, const Candidate& candidate, AllocatorFile& file) {
  if (candidate.conflict) return add_unprobed(file, candidate, "functions of different kinds share its address");
  const std::optional<std::uint64_t> entry_offset = resolver.image().file_offset_of(candidate.extent.vaddr);
  const ProbePlace place = place_probe(resolver, candidate.extent, candidate.kind);
  const std::optional<std::uint64_t> probe_offset = resolver.image().file_offset_of(place.vaddr);
  if (!entry_offset || !probe_offset || place.instruction.empty()) {
    return add_unprobed(file, candidate, "its code could not be decoded");
  }
  AllocatorFunction function{.names = candidate.names,
                             .kind = candidate.kind,
                             .entry_offset = *entry_offset,
                             .probe_offset = *probe_offset,
                             .instruction = place.instruction,
                             .single_stepped = place.single_stepped,
                             .arguments = place.arguments,
                             .return_offsets = {},
                             .may_throw = candidate.may_throw};
  if (candidate.may_throw) {
    const std::optional<std::string> reason = find_returns(resolver, candidate, function.return_offsets);
    if (reason) return add_unprobed(file, candidate, *reason);
  }
  file.functions.push_back(std::move(function));
}

}  // namespace

AllocatorFile find_allocator_functions(const ElfImage& image) {
  TargetResolver resolver(image);
  const Candidates candidates = find_candidates(image);
  AllocatorFile file;
  file.is_library = image.is_library();
  for (const auto& [vaddr, candidate] : candidates) {
    const bool may_be_forwarder = candidate.only_operators || candidate.kind == HAWK_CALL_FREE;
    if (may_be_forwarder && is_forwarder(resolver, candidates, candidate)) continue;
    add_function(resolver, candidate, file);
  }
  std::sort(file.functions.begin(), file.functions.end(),
            [](const AllocatorFunction& a, const AllocatorFunction& b) { return a.entry_offset < b.entry_offset; });
  return file;
}

}  // namespace hawk

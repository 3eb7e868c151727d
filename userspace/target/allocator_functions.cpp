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
#include "userspace/target/return_points.h"

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

/// Where the function's returns are seen, or why that cannot be known.
std::optional<std::string> find_returns(TargetResolver& resolver, const Candidate& candidate,
                                        std::uint64_t entry_probe_vaddr, ReturnPlaces& places) {
  WalkOptions options;
  options.record_steps = true;
  const FunctionWalk walk = walk_function(resolver, candidate.extent, options);
  if (!walk.incomplete.empty()) return walk.incomplete;
  if (walk.returns.empty()) return "it has no return instruction";
  places = place_returns(resolver, candidate.extent, walk, entry_probe_vaddr);
  // Of all else it is not known what has to be done at the return.
  if (candidate.kind != HAWK_CALL_MALLOC && candidate.kind != HAWK_CALL_ALIGNED_ALLOC) places.give_up_points();
  return std::nullopt;
}

/// By file offset of the functions' entries.
using ReturnsByEntry = std::map<std::uint64_t, ReturnPlaces>;

/// Whether others probe an instruction of `places` too: its `ret`, which they share but have found no points for, or an
/// instruction that has two meanings then.
bool is_shared(const ElfImage& image, const AllocatorFile& file, const ReturnsByEntry& returns,
               const ReturnPlaces& places) {
  const auto has_point = [&](std::uint64_t vaddr) {
    return std::any_of(places.points.begin(), places.points.end(),
                       [vaddr](const ReturnPoint& point) { return point.vaddr == vaddr; });
  };
  for (const auto& [entry, others] : returns) {
    const bool share_a_ret = std::any_of(others.rets.begin(), others.rets.end(), [&](std::uint64_t vaddr) {
      return std::binary_search(places.hidden.begin(), places.hidden.end(), vaddr);
    });
    const bool share_a_point =
        &others != &places && std::any_of(others.points.begin(), others.points.end(),
                                          [&](const ReturnPoint& point) { return has_point(point.vaddr); });
    if (share_a_ret || share_a_point) return true;
  }
  return std::any_of(file.functions.begin(), file.functions.end(), [&](const AllocatorFunction& function) {
    const std::optional<std::uint64_t> vaddr = image.vaddr_of(function.probe_offset);
    return !vaddr || has_point(*vaddr);
  });
}

/// Gives every function its returns. One that gives up its points has more `ret`, so that others may have to follow.
void settle_returns(const ElfImage& image, ReturnsByEntry& returns, AllocatorFile& file) {
  for (bool settled = false; !settled;) {
    settled = true;
    for (auto& [entry, places] : returns) {
      if (places.points.empty() || !is_shared(image, file, returns, places)) continue;
      places.give_up_points();
      settled = false;
    }
  }
  for (AllocatorFunction& function : file.functions) {
    const auto found = returns.find(function.entry_offset);
    if (found == returns.end()) continue;
    for (const std::uint64_t vaddr : found->second.rets) {
      if (const std::optional<std::uint64_t> offset = image.file_offset_of(vaddr)) {
        function.return_offsets.push_back(*offset);
      }
    }
    for (const ReturnPoint& point : found->second.points) {
      if (const std::optional<std::uint64_t> offset = image.file_offset_of(point.vaddr)) {
        function.return_points.push_back({*offset, point});
      }
    }
  }
}

void add_unprobed(AllocatorFile& file, const Candidate& candidate, const std::string& reason) {
  for (const std::string& name : candidate.names) file.unprobed.push_back({name, reason});
}

void add_function(TargetResolver& resolver, const Candidate& candidate, AllocatorFile& file, ReturnsByEntry& returns) {
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
                             .return_points = {},
                             .may_throw = candidate.may_throw};
  if (candidate.may_throw) {
    const std::optional<std::string> reason =
        find_returns(resolver, candidate, place.vaddr, returns[function.entry_offset]);
    if (reason) {
      returns.erase(function.entry_offset);
      return add_unprobed(file, candidate, *reason);
    }
  }
  file.functions.push_back(std::move(function));
}

}  // namespace

AllocatorFile find_allocator_functions(const ElfImage& image) {
  TargetResolver resolver(image);
  const Candidates candidates = find_candidates(image);
  AllocatorFile file;
  file.is_library = image.is_library();
  ReturnsByEntry returns;
  for (const auto& [vaddr, candidate] : candidates) {
    const bool may_be_forwarder = candidate.only_operators || candidate.kind == HAWK_CALL_FREE;
    if (may_be_forwarder && is_forwarder(resolver, candidates, candidate)) continue;
    add_function(resolver, candidate, file, returns);
  }
  settle_returns(image, returns, file);
  std::sort(file.functions.begin(), file.functions.end(),
            [](const AllocatorFunction& a, const AllocatorFunction& b) { return a.entry_offset < b.entry_offset; });
  return file;
}

}  // namespace hawk

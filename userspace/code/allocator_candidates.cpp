#include "userspace/code/allocator_candidates.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "userspace/code/forwarders.h"
#include "userspace/code/ifunc.h"

namespace hawk {
namespace {

void add_name(Candidate& candidate, const CatalogueEntry& entry) {
  candidate.names.emplace_back(entry.name);
  candidate.may_throw = candidate.may_throw || entry.may_throw;
  candidate.needs_company = candidate.needs_company && (entry.needs_company || entry.is_operator);
  // The name of a C function, if there is one at this address, decides; and of those one that can be followed.
  const bool is_known = candidate.kind != HAWK_CALL_NONE && !candidate.is_unfollowed();
  const bool decides = entry.is_operator ? candidate.only_operators : !(is_known && entry.is_unfollowed());
  if (!entry.is_operator && decides) {
    const bool differs = candidate.kind != entry.kind || candidate.arguments != entry.arguments;
    if (!candidate.only_operators && is_known && differs) candidate.conflict = true;
    candidate.only_operators = false;
  }
  if (!decides) return;
  candidate.kind = entry.kind;
  candidate.arguments = entry.arguments;
}

/// Where the code of `function` is; empty, and noted as not probed, when that is decided in the process.
std::vector<FunctionExtent> extents_of(BranchTargets& resolver, const ElfFunction& function, AllocatorFile& file) {
  const FunctionExtent extent = {function.vaddr, function.size_bytes};
  if (!function.is_resolver) return {extent};
  const std::optional<std::vector<std::uint64_t>> candidates = ifunc_candidates(resolver, extent);
  std::vector<FunctionExtent> extents;
  if (!candidates) {
    file.unprobed.push_back({function.name, "its code is selected when the program starts (IFUNC)"});
    return extents;
  }
  for (const std::uint64_t vaddr : *candidates) extents.push_back({vaddr, 0});
  return extents;
}

void add_candidate(Candidates& candidates, const FunctionExtent& extent, const CatalogueEntry& entry) {
  Candidate& candidate = candidates[extent.vaddr];
  candidate.extent.vaddr = extent.vaddr;
  candidate.extent.size_bytes = std::max(candidate.extent.size_bytes, extent.size_bytes);
  add_name(candidate, entry);
}

/// The prefixes of those candidates that need no company, and none (an empty one) if there are any.
std::set<std::string_view> families_in(const Candidates& candidates) {
  std::set<std::string_view> families;
  for (const auto& [vaddr, candidate] : candidates) {
    if (candidate.needs_company) continue;
    families.insert("");
    for (const std::string& name : candidate.names) families.insert(family_prefix(name));
  }
  return families;
}

bool is_in_company(const Candidate& candidate, const std::set<std::string_view>& families) {
  return std::any_of(candidate.names.begin(), candidate.names.end(),
                     [&](const std::string& name) { return families.contains(family_prefix(name)); });
}

/// A form of operator new or delete by the name that the language gives it.
bool is_plain_operator(const Candidate& candidate) {
  return candidate.only_operators && std::any_of(candidate.names.begin(), candidate.names.end(),
                                                 [](const auto& name) { return family_prefix(name).empty(); });
}

/// Whether an operator new takes blocks from elsewhere than from an allocator's functions. That of the C++ runtime, and
/// most of those that programs replace it by, have them made by malloc: there they are counted.
bool has_own_operator_new(BranchTargets& resolver, const Candidates& candidates) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const auto& item) {
    const Candidate& candidate = item.second;
    return is_plain_operator(candidate) && candidate.kind != HAWK_CALL_FREE &&
           !always_forwards(resolver, candidates, candidate);
  });
}

}  // namespace

std::set<std::uint64_t> add_families(const ElfImage& image, Candidates& candidates) {
  std::set<std::uint64_t> harmless;
  for (const AllocatorFamily& family : allocator_families()) {
    const bool is_here = std::any_of(candidates.begin(), candidates.end(), [&](const auto& item) {
      return std::find(item.second.names.begin(), item.second.names.end(), family.evidence) != item.second.names.end();
    });
    if (!is_here) continue;
    for (const ElfFunction& function : image.public_functions(family.prefix)) {
      const std::optional<CatalogueEntry> entry = find_by_beginning(function.name);
      if (entry) {
        add_candidate(candidates, {function.vaddr, function.size_bytes}, *entry);
      } else if (find_in_catalogue(function.name)) {
        continue;
      } else if (leaves_blocks_alone(function.name)) {
        harmless.insert(function.vaddr);
      } else {
        add_candidate(candidates, {function.vaddr, function.size_bytes},
                      {.name = function.name, .kind = HAWK_CALL_UNFOLLOWED});
      }
    }
  }
  return harmless;
}

Candidates find_candidates(BranchTargets& resolver, AllocatorFile& file) {
  Candidates candidates;
  bool defines_malloc_or_free = false;
  for (const ElfFunction& function : resolver.image().functions(catalogue_names())) {
    const std::optional<CatalogueEntry> entry = find_in_catalogue(function.name);
    if (!entry) continue;
    for (const FunctionExtent& extent : extents_of(resolver, function, file)) {
      add_candidate(candidates, extent, *entry);
    }
    if (entry->name == "malloc" || entry->name == "free") defines_malloc_or_free = true;
  }
  const std::set<std::string_view> company = families_in(candidates);
  const bool has_own = !defines_malloc_or_free && has_own_operator_new(resolver, candidates);
  std::erase_if(candidates, [&](const auto& item) {
    const Candidate& candidate = item.second;
    if (is_plain_operator(candidate)) return !defines_malloc_or_free && !has_own;
    if (candidate.only_operators && !defines_malloc_or_free) return true;
    return candidate.needs_company && !is_in_company(candidate, company);
  });
  for (auto& [vaddr, candidate] : candidates) {
    candidate.deletes_own = has_own && candidate.only_operators && candidate.kind == HAWK_CALL_FREE;
  }
  return candidates;
}

}  // namespace hawk

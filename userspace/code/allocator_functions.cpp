/// Which of a file's allocator functions are probed, and where.
///
/// A function that the catalogue does not know, but that has the name prefix of an allocator in the file, is treated as
/// one that cannot be followed: its calls are counted, unless it only forwards the request.
///
/// A block must be counted once. On the allocating side the BPF programs ensure that: they count the outermost call of
/// a thread only. On the freeing side there is no such rule, because a free is counted at its entry; so a freeing
/// function that only forwards its block to another function of the catalogue must not be probed itself. The same
/// applies to C++ operators, so that libstdc++'s wrappers, which may throw, are not probed.
///
/// "Only forwards" means: every path from the entry to a return leads through such a call, paths on which the pointer
/// is null aside. jemalloc's operator new has a path that retries with malloc when memory is short, but others that do
/// not; skipping it would lose all C++ allocations.
#include "userspace/code/allocator_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/code_scan.h"
#include "userspace/code/free_placement.h"
#include "userspace/code/function_walk.h"
#include "userspace/code/ifunc.h"
#include "userspace/code/plan_reliance.h"
#include "userspace/code/probe_placement.h"
#include "userspace/code/return_points.h"
#include "userspace/code/yield_points.h"

namespace hawk {
namespace {

/// All that the symbol tables say of one address.
struct Candidate {
  FunctionExtent extent;
  std::vector<std::string> names;
  hawk_call_kind kind = HAWK_CALL_NONE;
  ArgumentRegisters arguments = kPassedInOrder;
  bool only_operators = true;  ///< no C name among the names
  bool conflict = false;       ///< C names of different kinds
  bool may_throw = false;
  bool needs_company = true;

  bool is_unfollowed() const { return kind >= HAWK_CALL_UNFOLLOWED; }
};

using Candidates = std::map<std::uint64_t, Candidate>;

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

/// Adds the functions with an allocator's prefix that no list of the catalogue has. Returns the addresses of those that
/// do not change blocks.
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
  std::erase_if(candidates, [&](const auto& item) {
    const Candidate& candidate = item.second;
    if (candidate.only_operators && !defines_malloc_or_free) return true;
    return candidate.needs_company && !is_in_company(candidate, company);
  });
  return candidates;
}

bool is_forwarder(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate) {
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

/// Whether all that the function does to blocks it has done by functions that are followed, or counted themselves: it
/// calls nothing else in this file, which an allocator cannot do without, however much of it is inlined.
bool is_wrapper(BranchTargets& resolver, const Candidates& candidates, const std::set<std::uint64_t>& harmless,
                const Candidate& candidate) {
  const auto is_candidate = [&](const CodeTarget& target) {
    return (target.vaddr && target.vaddr != candidate.extent.vaddr && candidates.contains(*target.vaddr)) ||
           (!target.vaddr && find_in_catalogue(target.name));
  };
  WalkOptions options;
  options.calls_end_paths = false;
  options.ends_path = is_candidate;
  const FunctionWalk walk = walk_function(resolver, candidate.extent, options);
  const auto is_known = [&](const CallSite& call) {
    const CodeTarget& target = call.target;
    if (!target.vaddr) return !target.name.empty();
    return is_candidate(target) || harmless.contains(*target.vaddr) || resolver.is_noreturn(target);
  };
  return walk.incomplete.empty() && walk.ended_paths > 0 && std::all_of(walk.calls.begin(), walk.calls.end(), is_known);
}

/// Where the function's returns are seen, or why that cannot be known.
std::optional<std::string> find_returns(BranchTargets& resolver, const Candidate& candidate,
                                        std::uint64_t entry_probe_vaddr, ReturnProbes& probes) {
  WalkOptions options;
  options.record_steps = true;
  const FunctionWalk walk = walk_function(resolver, candidate.extent, options);
  if (!walk.incomplete.empty()) return walk.incomplete;
  if (walk.returns.empty()) return "it has no return instruction";
  probes = place_returns(resolver, candidate.extent, walk, entry_probe_vaddr);
  // Of all else it is not known what has to be done at the return.
  if (candidate.kind != HAWK_CALL_MALLOC && candidate.kind != HAWK_CALL_ALIGNED_ALLOC) probes.give_up_points();
  return std::nullopt;
}

/// By file offset of the functions' entries.
using ReturnsByEntry = std::map<std::uint64_t, ReturnProbes>;

/// Whether others probe an instruction of `probes` too: its `ret`, which they share but have found no points for, or an
/// instruction that has two meanings then.
bool is_shared(const ElfImage& image, const AllocatorFile& file, const ReturnsByEntry& returns,
               const ReturnProbes& probes) {
  const auto has_point = [&](std::uint64_t vaddr) {
    return std::any_of(probes.points.begin(), probes.points.end(),
                       [vaddr](const ReturnPoint& point) { return point.vaddr == vaddr; });
  };
  for (const auto& [entry, others] : returns) {
    const bool share_a_ret = std::any_of(others.rets.begin(), others.rets.end(), [&](std::uint64_t vaddr) {
      return std::binary_search(probes.hidden.begin(), probes.hidden.end(), vaddr);
    });
    const bool share_a_point =
        &others != &probes && std::any_of(others.points.begin(), others.points.end(),
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
    for (auto& [entry, probes] : returns) {
      if (probes.points.empty() || !is_shared(image, file, returns, probes)) continue;
      probes.give_up_points();
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

/// Another function of them may begin in its middle.
bool has_candidate_inside(const Candidates& candidates, FunctionExtent function) {
  const auto next = candidates.upper_bound(function.vaddr);
  return next != candidates.end() && next->first - function.vaddr < function.size_bytes;
}

ProbePoint place_entry_probe(BranchTargets& resolver, CodeScan& scan, const Candidates& candidates,
                             const Candidate& candidate) {
  const FunctionExtent extent = candidate.extent;
  return candidate.kind == HAWK_CALL_FREE && !has_candidate_inside(candidates, extent)
             ? place_free_probe(resolver, scan, extent, candidate.arguments)
             : place_probe(resolver, extent, candidate.kind, candidate.arguments);
}

void add_function(BranchTargets& resolver, CodeScan& scan, const Candidates& candidates, const Candidate& candidate,
                  AllocatorFile& file, ReturnsByEntry& returns) {
  if (candidate.conflict) return add_unprobed(file, candidate, "functions of different kinds share its address");
  const std::optional<std::uint64_t> entry_offset = resolver.image().file_offset_of(candidate.extent.vaddr);
  const ProbePoint point = place_entry_probe(resolver, scan, candidates, candidate);
  const std::optional<std::uint64_t> probe_offset = resolver.image().file_offset_of(point.vaddr);
  if (!entry_offset || !probe_offset || point.instruction.empty()) {
    return add_unprobed(file, candidate, "its code could not be decoded");
  }
  AllocatorFunction function{.names = candidate.names,
                             .kind = candidate.kind,
                             .entry_offset = *entry_offset,
                             .probe_offset = *probe_offset,
                             .instruction = point.instruction,
                             .single_stepped = point.single_stepped,
                             .arguments = point.arguments,
                             .frame = point.frame,
                             .return_offsets = {},
                             .return_points = {},
                             .may_throw = candidate.may_throw,
                             .yields = {}};
  if (candidate.is_unfollowed()) {
    file.unfollowed.push_back(std::move(function));
    return;
  }
  if (candidate.may_throw) {
    const std::optional<std::string> reason =
        find_returns(resolver, candidate, point.vaddr, returns[function.entry_offset]);
    if (reason) {
      returns.erase(function.entry_offset);
      return add_unprobed(file, candidate, *reason);
    }
  }
  file.functions.push_back(std::move(function));
}

/// Whether all names of the function are variants of `name`: __libc_valloc and pvalloc are of valloc.
bool is_any(std::string_view name, const AllocatorFunction& function) {
  return std::all_of(function.names.begin(), function.names.end(),
                     [name](const std::string& other) { return other.ends_with(name); });
}

/// How many points a call may run into. Two take a pair with free 1.23 times as long as an entry probe and a return
/// probe of a session, but replace no return address, and spare the kernel the check of a program when hawktrace
/// attaches. Functions that may throw have no return probe; those that align their blocks are called less often, and
/// share their code with posix_memalign alone, which is seen there itself. pvalloc is obsolete.
unsigned most_traps_of(const AllocatorFunction& function) {
  if (is_any("pvalloc", function)) return 3;
  const bool aligns = function.kind == HAWK_CALL_ALIGNED_ALLOC || function.kind == HAWK_CALL_POSIX_MEMALIGN;
  return function.may_throw || aligns || is_any("valloc", function) ? 2 : 1;
}

bool is_seen_in_callee(const YieldPlan& plan) {
  return std::any_of(plan.points.begin(), plan.points.end(),
                     [](const YieldPoint& point) { return point.called_by.has_value(); });
}

/// Gives every allocating function its plan.
void plan_yields(BranchTargets& resolver, CodeScan& scan, const Candidates& candidates, Plans plans,
                 AllocatorFile& file) {
  const ElfImage& image = resolver.image();
  std::map<std::uint64_t, SeenFunction> seen;
  for (const AllocatorFunction& function : file.functions) {
    const std::optional<std::uint64_t> vaddr = image.vaddr_of(function.entry_offset);
    if (vaddr)
      seen[*vaddr] = {function.kind,           candidates.at(*vaddr).arguments, function.may_throw,
                      most_traps_of(function), is_any("pvalloc", function),     is_any("malloc", function)};
  }
  const auto seen_at = [&](std::uint64_t vaddr) {
    const auto found = seen.find(vaddr);
    return found == seen.end() ? std::nullopt : std::optional(found->second);
  };
  YieldPlanner planner(resolver, scan, plans, seen_at);
  const auto for_each = [&](const auto& plan) {
    for (AllocatorFunction& function : file.functions) {
      const std::optional<std::uint64_t> entry = image.vaddr_of(function.entry_offset);
      const std::optional<std::uint64_t> probe = image.vaddr_of(function.probe_offset);
      if (function.kind == HAWK_CALL_FREE || function.kind == HAWK_CALL_STRING || !entry || !probe) continue;
      plan(function, candidates.at(*entry).extent, seen.at(*entry), *probe);
    }
  };
  for_each([&](AllocatorFunction& function, const auto&... asked) { function.yields = planner.plan(asked...); });
  for_each([&](AllocatorFunction& function, const auto&... asked) {
    if (is_seen_in_callee(function.yields)) return;
    if (std::optional<YieldPlan> shared = planner.plan_in_shared(asked...)) function.yields = std::move(*shared);
  });
  settle_reliance(file);
}

/// Allocators have some dozens of functions that are counted alone. Perf events for thousands take minutes to remove.
void give_up_too_many(AllocatorFile& file) {
  constexpr std::size_t kMostUnfollowed = 512;
  if (file.unfollowed.size() <= kMostUnfollowed) return;
  file.unprobed.push_back(
      {file.unfollowed.front().names.front() + " and others",
       fmt::format("the file has {} functions of unknown purpose with an allocator's names, and at most {} are probed",
                   file.unfollowed.size(), kMostUnfollowed)});
  file.unfollowed.clear();
}

}  // namespace

AllocatorFile find_allocator_functions(const ElfImage& image, Plans plans) {
  BranchTargets resolver(image);
  CodeScan scan(image, resolver.exceptions());
  AllocatorFile file;
  file.is_library = image.is_library();
  Candidates candidates = find_candidates(resolver, file);
  const std::set<std::uint64_t> harmless = add_families(image, candidates);
  for (auto& [vaddr, candidate] : candidates) std::sort(candidate.names.begin(), candidate.names.end());
  ReturnsByEntry returns;
  for (const auto& [vaddr, candidate] : candidates) {
    const bool may_be_forwarder = candidate.only_operators || candidate.kind == HAWK_CALL_FREE;
    if (may_be_forwarder && is_forwarder(resolver, candidates, candidate)) continue;
    if (candidate.kind == HAWK_CALL_UNFOLLOWED && is_wrapper(resolver, candidates, harmless, candidate)) continue;
    add_function(resolver, scan, candidates, candidate, file, returns);
  }
  settle_returns(image, returns, file);
  if (plans != Plans::kNone) plan_yields(resolver, scan, candidates, plans, file);
  give_up_too_many(file);
  std::sort(file.functions.begin(), file.functions.end(),
            [](const AllocatorFunction& a, const AllocatorFunction& b) { return a.entry_offset < b.entry_offset; });
  return file;
}

}  // namespace hawk

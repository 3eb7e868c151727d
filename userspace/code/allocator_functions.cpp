/// Which of a file's allocator functions are probed, and where.
///
/// A function that the catalogue does not know, but that has the name prefix of an allocator in the file, is treated as
/// one that cannot be followed: its calls are counted, unless it only forwards the request.
///
/// A block must be counted once. On the allocating side the BPF programs ensure that: they count the outermost call of
/// a thread only. On the freeing side there is no such rule, because a free is counted at its entry; so a freeing
/// function that only forwards its block to another function of the catalogue must not be probed itself. The same
/// applies to C++ operators, so that libstdc++'s wrappers, which may throw, are not probed. One that passes on another
/// pointer must be: if an allocator in front of another puts headers before its blocks, the program's blocks are its.
///
/// "Only forwards" means: every path from the entry to a return leads through such a call, paths on which the pointer
/// is null aside. jemalloc's operator new has a path that retries with malloc when memory is short, but others that do
/// not; skipping it would lose all C++ allocations.
///
/// A file that defines neither malloc nor free has operators of its own, of a pool or another allocator, unless each
/// form of operator new only forwards, over functions of the file in between or not. Then none is probed. Else those
/// that do not forward are, and also what passes blocks on to a free of another file: a pool may have made them.
#include "userspace/code/allocator_functions.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "userspace/code/allocator_candidates.h"
#include "userspace/code/call_effects.h"
#include "userspace/code/code_scan.h"
#include "userspace/code/forwarders.h"
#include "userspace/code/free_placement.h"
#include "userspace/code/plan_reliance.h"
#include "userspace/code/probe_placement.h"
#include "userspace/code/return_points.h"
#include "userspace/code/yield_points.h"

namespace hawk {
namespace {

/// Where the function's returns are seen, or why that cannot be known.
std::optional<std::string> find_returns(BranchTargets& resolver, const Candidate& candidate,
                                        std::uint64_t entry_probe_vaddr, ReturnProbes& probes) {
  WalkOptions options;
  options.record_steps = true;
  FunctionWalk walk = walk_function(resolver, candidate.extent, options);
  if (!walk.incomplete.empty()) {
    // It may have followed what lies behind the call of a function that throws. To find out takes time.
    CallEffects effects(
        resolver, [](std::uint64_t) { return false; }, false);
    options.never_returns = [&](const CodeTarget& target, const StackState& state) {
      return effects.never_returns(target, state.first_constant);
    };
    walk = walk_function(resolver, candidate.extent, options);
  }
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

/// Whether only the first of several hits of its entry probe could be told to be a call. The others are recognized by
/// the return address that the kernel has replaced, or have no plan.
bool needs_one_entry(const Candidate& candidate) { return candidate.kind == HAWK_CALL_FREE || candidate.may_throw; }

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
  if (needs_one_entry(candidate) && begins_again(resolver, candidate.extent))
    return add_unprobed(file, candidate, "its first instruction may be executed several times in a call");
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
  const std::set<std::uint64_t> forwarders = find_forwarders(resolver, candidates);
  for (const auto& [vaddr, candidate] : candidates) {
    if (forwarders.contains(vaddr)) continue;
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

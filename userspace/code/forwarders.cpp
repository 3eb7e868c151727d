#include "userspace/code/forwarders.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "userspace/code/arch/x86_64/value_flow.h"
#include "userspace/code/call_effects.h"

namespace hawk {
namespace {

/// Whether it is another function of those, in this file or by its name.
bool is_forwarded_to(const Candidates& candidates, const Candidate& from, const CodeTarget& target) {
  if (target.vaddr == from.extent.vaddr) return false;
  if (target.vaddr && candidates.contains(*target.vaddr)) return true;
  const std::optional<CatalogueEntry> named = find_in_catalogue(target.name);
  // What free of another file is given need not be what operator new has returned.
  return named && (named->is_operator || !from.deletes_own);
}

bool ends_every_path(const FunctionWalk& walk) {
  return walk.incomplete.empty() && walk.returns.empty() && walk.ended_paths > 0;
}

/// Follows an operator new into the functions of its file.
class Forwarding {
 public:
  Forwarding(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate)
      : resolver_(resolver),
        effects_(
            resolver, [](std::uint64_t) { return false; }, false),
        candidates_(candidates),
        candidate_(candidate) {}

  bool is_certain() { return is_certain(candidate_.extent); }

 private:
  /// An allocator of its own has more.
  static constexpr std::size_t kMostFunctions = 64;

  bool is_certain(FunctionExtent function) {
    // One that is being followed is none, so that recursion ends.
    const auto [known, is_new] = known_.emplace(function.vaddr, false);
    if (!is_new || known_.size() > kMostFunctions) return known->second;
    WalkOptions options;
    options.never_returns = [this](const CodeTarget& target, const StackState& state) {
      return effects_.never_returns(target, state.first_constant);
    };
    options.ends_path = [&](const CodeTarget& target) {
      if (is_forwarded_to(candidates_, candidate_, target)) return true;
      const bool is_inside =
          target.vaddr && *target.vaddr >= function.vaddr && *target.vaddr - function.vaddr < function.size_bytes;
      return target.vaddr && !is_inside && is_certain({*target.vaddr, 0});
    };
    return known_[function.vaddr] = ends_every_path(walk_function(resolver_, function, options));
  }

  BranchTargets& resolver_;
  CallEffects effects_;
  const Candidates& candidates_;
  const Candidate& candidate_;
  std::map<std::uint64_t, bool> known_;  ///< by where code begins
};

/// The register in which a function that frees is given its block.
std::uint8_t block_register(const Candidates& candidates, const CodeTarget& target) {
  if (target.vaddr && candidates.contains(*target.vaddr)) return candidates.at(*target.vaddr).arguments[0];
  return find_in_catalogue(target.name).value_or(CatalogueEntry()).arguments[0];
}

/// Looks at one function.
class Forwarder {
 public:
  Forwarder(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate)
      : resolver_(resolver), candidates_(candidates), candidate_(candidate) {
    WalkOptions options;
    options.skip_null_argument = candidate.kind == HAWK_CALL_FREE;
    options.record_steps = candidate.kind == HAWK_CALL_FREE;
    options.ends_path = [&](const CodeTarget& target) { return is_forwarded_to(candidates, candidate, target); };
    walk_ = walk_function(resolver, candidate.extent, options);
  }

  bool forwards() const { return ends_every_path(walk_); }

  bool passes_its_block_on() const {
    const CodeGraph graph =
        graph_of(resolver_, candidate_.extent.vaddr, walk_, [](const CodeTarget&, const StackState&) { return false; });
    const std::vector<Values> values = follow_values(graph, std::array{std::optional(candidate_.arguments[0])});
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      const CodeTarget target = target_of(resolver_, graph.nodes[node].instruction);
      if (!is_forwarded_to(candidates_, candidate_, target)) continue;
      if ((values[node].front().registers >> block_register(candidates_, target) & 1) == 0) return false;
    }
    return true;
  }

 private:
  BranchTargets& resolver_;
  const Candidates& candidates_;
  const Candidate& candidate_;
  FunctionWalk walk_;
};

}  // namespace

std::set<std::uint64_t> find_forwarders(BranchTargets& resolver, const Candidates& candidates) {
  std::set<std::uint64_t> found;
  bool makes_blocks = false;  // of an operator new that is probed
  for (const auto& [vaddr, candidate] : candidates) {
    if (!candidate.only_operators || candidate.kind == HAWK_CALL_FREE) continue;
    if (Forwarder(resolver, candidates, candidate).forwards()) {
      found.insert(vaddr);
    } else {
      makes_blocks = true;
    }
  }
  for (const auto& [vaddr, candidate] : candidates) {
    if (candidate.kind != HAWK_CALL_FREE) continue;
    const Forwarder forwarder(resolver, candidates, candidate);
    const bool may_change_block = candidate.only_operators && !makes_blocks;
    if (forwarder.forwards() && (may_change_block || forwarder.passes_its_block_on())) found.insert(vaddr);
  }
  return found;
}

bool always_forwards(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate) {
  return Forwarding(resolver, candidates, candidate).is_certain();
}

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

}  // namespace hawk

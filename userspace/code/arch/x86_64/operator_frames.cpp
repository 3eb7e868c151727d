#include "userspace/code/operator_frames.h"

#include <limits>
#include <map>
#include <utility>

#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/function_walk.h"

namespace hawk {
namespace {

std::optional<std::uint32_t> as_offset(std::int64_t bytes) {
  if (bytes < 0 || bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(bytes);
}

/// nullopt where the ordinary walk is right, or where the walk through the function found none.
std::optional<CallSiteRule> rule_of(const CallSite& call) {
  const StackState& state = call.state;
  if (!state.rsp || state.has_frame_pointer()) return std::nullopt;
  if (state.rbp_changed && !state.saved_rbp) return std::nullopt;
  // The canonical frame address is where rsp was before the call that led here: 8 above the return address.
  const std::optional<std::uint32_t> cfa_offset = as_offset(8 - *state.rsp);
  if (!cfa_offset) return std::nullopt;
  CallSiteRule rule{call.return_vaddr, *cfa_offset, std::nullopt};
  if (state.saved_rbp) {
    rule.saved_rbp_offset_bytes = as_offset(*state.saved_rbp - *state.rsp);
    if (!rule.saved_rbp_offset_bytes) return std::nullopt;
  }
  return rule;
}

}  // namespace

std::optional<OperatorFrames> find_operator_frames(const ElfImage& image) {
  BranchTargets resolver(image);
  // Forms that share code must agree on it; nullopt marks a call site that has no certain rule.
  std::map<std::uint64_t, std::optional<CallSiteRule>> rules;
  for (const ElfFunction& function : image.functions(operator_new_names())) {
    if (function.is_resolver) continue;
    for (const CallSite& call : walk_function(resolver, {function.vaddr, function.size_bytes}).calls) {
      const std::optional<CallSiteRule> rule = rule_of(call);
      const auto [known, is_new] = rules.try_emplace(call.return_vaddr, rule);
      if (!is_new && known->second != rule) known->second.reset();
    }
  }
  OperatorFrames frames;
  for (const auto& [return_vaddr, rule] : rules) {
    if (rule) frames.call_sites.push_back(*rule);
  }
  if (frames.call_sites.empty()) return std::nullopt;
  frames.init_vaddr = image.init_vaddr();
  if (frames.init_vaddr) frames.init_offset = image.file_offset_of(*frames.init_vaddr);
  return frames;
}

}  // namespace hawk

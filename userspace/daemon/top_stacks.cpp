#include "userspace/daemon/top_stacks.h"

#include <fmt/core.h>

#include <algorithm>

#include "symbolizer/frame_role.h"
#include "userspace/report/call_table.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

/// The first calls of the program's.
std::string calls_text(const FrameList& frames) {
  constexpr std::size_t kMostCalls = 4;
  std::string text;
  const FrameList telling = telling_calls(frames);
  for (std::size_t i = 0; i < std::min(telling.size(), kMostCalls); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : " < ", telling[i]->name);
  }
  return text.empty() ? "no function is known" : text;
}

}  // namespace

std::vector<std::string> top_stack_lines(const Snapshot& snapshot, Symbolizer& symbolizer, std::size_t count) {
  std::vector<const StackRecord*> stacks;
  for (const StackRecord& stack : snapshot.stacks) {
    if (stack.counters.live_bytes() != 0) stacks.push_back(&stack);
  }
  const auto shown = std::min(count, stacks.size());
  std::partial_sort(
      stacks.begin(), stacks.begin() + static_cast<std::ptrdiff_t>(shown), stacks.end(),
      [](const StackRecord* a, const StackRecord* b) { return a->counters.live_bytes() > b->counters.live_bytes(); });
  stacks.resize(shown);
  const CallTable calls(snapshot, stacks, symbolizer, frame_role);
  std::vector<std::string> lines;
  lines.reserve(stacks.size());
  for (const StackRecord* const stack : stacks) {
    lines.push_back(fmt::format("{} in {}: {}", format_bytes(stack->counters.live_bytes(), NumberStyle::kReadable),
                                format_blocks(stack->counters.live_count(), NumberStyle::kReadable),
                                calls_text(calls.list(*stack))));
  }
  return lines;
}

}  // namespace hawk

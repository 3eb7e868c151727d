#include "userspace/report/trap_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hawk {
namespace {

/// The highest cost of a function of this name; 0: none was measured.
std::uint64_t cost_of(const Snapshot& snapshot, std::string_view name) {
  std::uint64_t highest_ns = 0;
  for (const Allocator& allocator : snapshot.target().allocators) {
    for (const ProbedFunction& function : allocator.functions) {
      const bool is_it = function.name == name ||
                         std::find(function.aliases.begin(), function.aliases.end(), name) != function.aliases.end();
      if (is_it) highest_ns = std::max(highest_ns, function.cost_ns.value_or(0));
    }
  }
  return highest_ns;
}

}  // namespace

std::string trap_costs_text(const Snapshot& snapshot) {
  std::string text;
  struct Named {
    std::string_view function;
    std::string_view symbol;
  };
  for (const Named& named : {Named{"malloc", "malloc"}, Named{"operator new", "_Znwm"}, Named{"free", "free"}}) {
    const std::uint64_t cost_ns = cost_of(snapshot, named.symbol);
    if (cost_ns == 0) continue;
    text += fmt::format("{} {:.2g} µs per {}", text.empty() ? "tracing overhead: about" : ",",
                        static_cast<double>(cost_ns) / 1e3, named.function);
  }
  return text;
}

}  // namespace hawk

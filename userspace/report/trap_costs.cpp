#include "userspace/report/trap_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hawk {
namespace {

/// The highest cost of a function of this name; 0: none was measured.
std::uint64_t cost_of(const TargetInfo& target, std::string_view name) {
  std::uint64_t highest_ns = 0;
  for (const Allocator& allocator : target.allocators) {
    for (const ProbedFunction& function : allocator.functions) {
      const bool is_it = function.name == name ||
                         std::find(function.aliases.begin(), function.aliases.end(), name) != function.aliases.end();
      if (is_it) highest_ns = std::max(highest_ns, function.cost_ns.value_or(0));
    }
  }
  return highest_ns;
}

/// The same of all processes.
std::uint64_t cost_of(const Snapshot& snapshot, std::string_view name) {
  std::uint64_t highest_ns = 0;
  for (const TargetInfo& target : snapshot.targets) highest_ns = std::max(highest_ns, cost_of(target, name));
  return highest_ns;
}

/// What the traps of one process took. After an exec the time is that of both programs, and the calls are of one.
std::optional<std::uint64_t> trap_time_ns(const TargetInfo& target, const Counters& totals,
                                          std::uint64_t frees_of_untraced, std::uint64_t exec_count) {
  const std::uint64_t allocation_ns = std::max(cost_of(target, "malloc"), cost_of(target, "_Znwm"));
  const std::uint64_t free_ns = cost_of(target, "free");
  if (allocation_ns == 0 || free_ns == 0 || exec_count != 0) return std::nullopt;
  return totals.allocated_count * allocation_ns + (totals.freed_count + frees_of_untraced) * free_ns;
}

/// Those that were counted: each pays for its traps.
std::uint64_t calls_of(const Snapshot& snapshot) {
  return snapshot.totals.allocated_count + snapshot.totals.freed_count + snapshot.frees_of_untraced;
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
  const std::optional<std::uint64_t> traps_ns = text.empty() ? std::nullopt : trap_time_ns(snapshot);
  if (!traps_ns || !snapshot.usage || snapshot.usage->target_cpu_ns.value_or(0) == 0) return text;
  return text +
         fmt::format("; with {} the traps took at least {} of the {} of CPU that the process{} had meanwhile",
                     worded_for(calls_of(snapshot),
                                fmt::format("{} call{{|s}}", format_count(calls_of(snapshot), NumberStyle::kReadable))),
                     format_share(*traps_ns, *snapshot.usage->target_cpu_ns),
                     format_duration(*snapshot.usage->target_cpu_ns), snapshot.parts.empty() ? "" : "es");
}

std::optional<std::uint64_t> trap_time_ns(const Snapshot& snapshot) {
  if (snapshot.parts.empty()) {
    return trap_time_ns(snapshot.target(), snapshot.totals, snapshot.frees_of_untraced, snapshot.trace.exec_count);
  }
  std::uint64_t sum_ns = 0;
  for (std::size_t i = 0; i < snapshot.parts.size(); ++i) {
    const TargetPart& part = snapshot.parts[i];
    const auto time_ns = trap_time_ns(snapshot.targets[i], part.totals, part.frees_of_untraced, part.exec_count);
    if (!time_ns) return std::nullopt;
    sum_ns += *time_ns;
  }
  return sum_ns;
}

std::string usage_text(const Snapshot& snapshot, NumberStyle style) {
  if (!snapshot.usage) return {};
  const TracingUsage& usage = *snapshot.usage;
  return fmt::format("hawktrace took {} of CPU and at most {} of memory; the kernel's tables take {}",
                     format_duration(usage.cpu_ns), format_bytes(usage.peak_resident_bytes, style),
                     format_bytes(usage.table_bytes, style));
}

}  // namespace hawk

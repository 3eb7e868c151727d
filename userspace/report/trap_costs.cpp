#include "userspace/report/trap_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace hawk {
namespace {

/// Costs of the functions of one name.
struct CostRange {
  std::uint64_t lowest_ns = UINT64_MAX;
  std::uint64_t highest_ns = 0;  ///< 0: none was measured

  void add(std::uint64_t ns) {
    lowest_ns = std::min(lowest_ns, ns);
    highest_ns = std::max(highest_ns, ns);
  }
};

void add_costs(const TargetInfo& target, std::string_view name, CostRange& range) {
  for (const Allocator& allocator : target.allocators) {
    for (const ProbedFunction& function : allocator.functions) {
      const bool is_it = function.name == name ||
                         std::find(function.aliases.begin(), function.aliases.end(), name) != function.aliases.end();
      if (is_it && function.cost_ns) range.add(*function.cost_ns);
    }
  }
}

/// The highest cost of a function of this name, of all processes.
std::uint64_t cost_of(const Snapshot& snapshot, std::string_view name) {
  CostRange range;
  for (const TargetInfo& target : snapshot.targets) add_costs(target, name, range);
  return range.highest_ns;
}

/// What the traps of one process took at least: which of several allocating functions was called is not known, so that
/// each call counts as one of the cheapest. After an exec the time is that of both programs, and the calls are of one.
std::optional<std::uint64_t> trap_time_ns(const TargetInfo& target, const Counters& totals,
                                          std::uint64_t frees_of_untraced, std::uint64_t exec_count) {
  CostRange allocation, free;
  for (const std::string_view name : {"malloc", "_Znwm"}) add_costs(target, name, allocation);
  add_costs(target, "free", free);
  if (allocation.highest_ns == 0 || free.highest_ns == 0 || exec_count != 0) return std::nullopt;
  return totals.allocated_count * allocation.lowest_ns + (totals.freed_count + frees_of_untraced) * free.lowest_ns;
}

void add_once(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

/// Points that are shown of a function: those with the most calls.
constexpr std::size_t kMostPoints = 4;

/// "malloc at +0x157 97.2 %, at +0xf2 2.8 %". Empty: no call was seen inside it.
std::string points_text(const ProbedFunction& function) {
  std::vector<const ProbedPoint*> points;
  std::uint64_t calls = 0;
  for (const ProbedPoint& point : function.points) {
    if (point.calls.value_or(0) == 0) continue;
    points.push_back(&point);
    if (point.shows != PointShows::kSize) calls += *point.calls;
  }
  if (calls == 0) return {};
  std::stable_sort(points.begin(), points.end(),
                   [](const ProbedPoint* a, const ProbedPoint* b) { return *a->calls > *b->calls; });
  std::string text = function.name;
  for (std::size_t i = 0; i < std::min(points.size(), kMostPoints); ++i) {
    text += fmt::format("{} at {:+#x} {}{}", i == 0 ? "" : ",",
                        static_cast<std::int64_t>(points[i]->file_offset - function.file_offset),
                        format_share(*points[i]->calls, calls), points[i]->shows == PointShows::kSize ? " (size)" : "");
  }
  if (points.size() > kMostPoints) text += fmt::format(" and {} more", points.size() - kMostPoints);
  return text;
}

/// Functions that are shown: allocators that export many names have dozens. JSON has all.
constexpr std::size_t kMostFunctions = 4;

std::string listed(const std::vector<std::string>& texts, std::string_view separator) {
  const std::size_t shown = std::min(texts.size(), kMostFunctions);
  const std::string text = fmt::format("{}", fmt::join(texts.begin(), texts.begin() + shown, separator));
  return shown == texts.size() ? text : fmt::format("{} and {} more", text, texts.size() - shown);
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
         fmt::format("; with {} the traps took at least {} of the {} of CPU time that the process{} used",
                     worded_for(calls_of(snapshot),
                                fmt::format("{} call{{|s}}", format_count(calls_of(snapshot), NumberStyle::kReadable))),
                     format_share(*traps_ns, *snapshot.usage->target_cpu_ns),
                     format_duration(*snapshot.usage->target_cpu_ns), snapshot.parts.empty() ? "" : "es");
}

std::string trap_points_text(const Snapshot& snapshot) {
  std::vector<std::string> inside;
  std::vector<std::string> outside;
  for (const TargetInfo& target : snapshot.targets) {
    for (const Allocator& allocator : target.allocators) {
      for (const ProbedFunction& function : allocator.functions) {
        const std::string text = points_text(function);
        if (!text.empty()) add_once(inside, text);
        if (!function.points_fallback.empty()) add_once(outside, function.name);
      }
    }
  }
  // The names that C has given them are the shortest.
  std::stable_sort(outside.begin(), outside.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> parts;
  if (!inside.empty()) parts.push_back(listed(inside, "; "));
  if (!outside.empty()) parts.push_back("at entry and return: " + listed(outside, ", "));
  return parts.empty() ? "" : fmt::format("traps: {}", fmt::join(parts, "; "));
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
  return fmt::format("hawktrace used {} of CPU time and at most {} of memory; the kernel's tables use {}",
                     format_duration(usage.cpu_ns), format_bytes(usage.peak_resident_bytes, style),
                     format_bytes(usage.table_bytes, style));
}

}  // namespace hawk

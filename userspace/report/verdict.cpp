#include "userspace/report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hawk {

std::string processes_text(const Snapshot& snapshot) {
  constexpr std::size_t kMostNames = 12;
  std::string text;
  for (std::size_t i = 0; i < snapshot.targets.size(); ++i) {
    if (i == kMostNames) return fmt::format("{} and {} more", text, snapshot.targets.size() - kMostNames);
    const TargetInfo& target = snapshot.targets[i];
    text += fmt::format("{}{} (pid {})", i == 0 ? "" : ", ", target.comm, target.pid);
  }
  return text;
}

std::string child_processes_text(std::uint64_t count, NumberStyle style) {
  return fmt::format("{} child {}", format_count(count, style), count == 1 ? "process" : "processes");
}

std::string child_programs_text(const UntracedChildren& children, NumberStyle style) {
  constexpr std::size_t kMostNames = 12;
  std::vector<std::string> items;
  for (const ChildProgram& program : children.programs) {
    if (items.size() == kMostNames) {
      items.push_back(fmt::format("{} other programs", children.programs.size() - kMostNames));
      break;
    }
    const bool once = program.count == 1;
    items.push_back(once ? program.comm
                         : fmt::format("{} ({} times)", program.comm, format_count(program.count, style)));
  }
  if (children.without_exec == 1) {
    items.emplace_back("1 copy of the process itself");
  } else if (children.without_exec != 0) {
    items.push_back(fmt::format("{} copies of the process itself", format_count(children.without_exec, style)));
  }
  if (items.empty()) return {};
  const std::string last = std::move(items.back());
  items.pop_back();
  return items.empty() ? last : fmt::format("{} and {}", fmt::join(items, ", "), last);
}

namespace {

/// What may be promised of the numbers alone.
Verdict numbers_verdict(const Snapshot& snapshot, NumberStyle style) {
  if (!snapshot.losses.keep(Promise::kNumbers)) return {"NOT exact", Style::kBad};
  if (!snapshot.numbers_exact()) return {"NOT exact, verification failed", Style::kBad};
  if (snapshot.exact()) return {"exact", Style::kGood};
  const std::uint64_t children = snapshot.losses[HAWK_LOSS_UNTRACED_CHILD];
  return {fmt::format("exact for this process, {} not traced", child_processes_text(children, style)), Style::kStrong};
}

}  // namespace

Verdict verdict(const Snapshot& snapshot, NumberStyle style) {
  Verdict worth = numbers_verdict(snapshot, style);
  if (!snapshot.numbers_exact() || snapshot.stacks_complete()) return worth;
  if (snapshot.exact()) return {"numbers exact, stacks incomplete", Style::kStrong};
  worth.text += ", stacks incomplete";
  return worth;
}

}  // namespace hawk

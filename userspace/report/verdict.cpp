#include "userspace/report/verdict.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "userspace/tables/losses.h"

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

/// What is promised of a target, or of all.
struct Promises {
  const Losses& losses;
  bool numbers_exact;
  bool exact;
  bool stacks_complete;
  std::string_view whose;  ///< numbers they are
};

/// What may be promised of the numbers alone.
Verdict numbers_verdict(const Promises& promises, NumberStyle style) {
  if (!promises.losses.keep(Promise::kNumbers)) return {"NOT exact", Style::kBad};
  if (!promises.numbers_exact) return {"NOT exact, verification failed", Style::kBad};
  if (promises.exact) return {"exact", Style::kGood};
  const std::uint64_t children = promises.losses[HAWK_LOSS_UNTRACED_CHILD];
  return {fmt::format("exact for {}, {} not traced", promises.whose, child_processes_text(children, style)),
          Style::kStrong};
}

Verdict verdict_of(const Promises& promises, NumberStyle style) {
  Verdict worth = numbers_verdict(promises, style);
  if (!promises.numbers_exact || promises.stacks_complete) return worth;
  if (promises.exact) return {"numbers exact, stacks incomplete", Style::kStrong};
  worth.text += ", stacks incomplete";
  return worth;
}

}  // namespace

Verdict verdict(const Snapshot& snapshot, NumberStyle style) {
  return verdict_of({snapshot.losses, snapshot.numbers_exact(), snapshot.exact(), snapshot.stacks_complete(),
                     snapshot.parts.empty() ? "this process" : "these processes"},
                    style);
}

Verdict verdict(const TargetPart& part, NumberStyle style) {
  return verdict_of({part.losses, part.numbers_exact(), part.exact(), part.stacks_complete, "this process"}, style);
}

std::string inexact_causes_text(const TargetPart& part, NumberStyle style) {
  std::string text;
  std::size_t others = 0;
  for (std::size_t cause = 0; cause < part.losses.counts.size(); ++cause) {
    const std::uint64_t count = part.losses.counts[cause];
    if (count == 0 || loss_texts()[cause].promise != Promise::kNumbers) continue;
    if (text.empty()) {
      text = fmt::format("{} {}", format_count(count, style), worded_for(count, loss_texts()[cause].sentence));
    } else {
      ++others;
    }
  }
  return others == 0 ? text : text + fmt::format(", and {} more cause{}", others, others == 1 ? "" : "s");
}

}  // namespace hawk

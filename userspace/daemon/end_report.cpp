#include "userspace/daemon/end_report.h"

#include <fmt/core.h>

#include <utility>

#include "userspace/base/printable.h"
#include "userspace/daemon/top_stacks.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr std::size_t kTopStacks = 5;
/// Of entries about the end of a process (journalctl MESSAGE_ID=...).
constexpr const char* kMessageId = "9f0c6c0f4d8e4f0b8a5d3b1f7e2a6c41";

std::string readable(std::uint64_t bytes) { return format_bytes(bytes, NumberStyle::kReadable); }

/// The lines of a message are ours: a name has none.
std::string whose(const TargetState& target, const TargetProcess& process, const ProcessEnd& end) {
  const std::string comm = printable_unicode(process.facts.comm);
  return fmt::format("{}: process {}{} {}", target.config.name, process.facts.pid,
                     comm.empty() ? "" : fmt::format(" ({})", comm), text_of(end));
}

std::string_view kind_of(const ProcessEnd& end) {
  if (end.oom_killed) return "oom";
  return end.is_crash() ? "crash" : "exit";
}

}  // namespace

bool EndReporter::may_report(const std::string& target, bool is_crash, Time now) {
  std::deque<Time>& times = reported_[{target, is_crash}];
  while (!times.empty() && now - times.front() >= std::chrono::minutes(1)) times.pop_front();
  if (times.size() >= kMostInAMinute) return false;
  times.push_back(now);
  return true;
}

void EndReporter::write(const TargetState& target, const TargetProcess& process, const ProcessEnd& end,
                        std::string message, const std::string& file) {
  JournalEntry entry;
  entry.priority = end.is_crash() ? JournalPriority::kWarning : JournalPriority::kInfo;
  entry.message = std::move(message);
  entry.fields = {{"MESSAGE_ID", kMessageId},
                  {"HAWKTRACE_TARGET", target.config.name},
                  {"HAWKTRACE_PID", std::to_string(process.facts.pid)},
                  {"HAWKTRACE_END", std::string(kind_of(end))}};
  if (!file.empty()) entry.fields.emplace_back("HAWKTRACE_FILE", file);
  journal_.write(entry);
}

void EndReporter::report(const TargetState& target, const TargetProcess& process, const ProcessEnd& end,
                         const Snapshot& last, const std::string& file, Time now) {
  if (!may_report(target.config.name, end.is_crash(), now)) return;
  std::string message = fmt::format(
      "{}; {} live in {}, traced for {}, {}{}", whose(target, process, end), readable(last.totals.live_bytes()),
      format_blocks(last.totals.live_count(), NumberStyle::kReadable), format_duration(last.trace.duration_ns),
      last.exact() ? "exact" : "NOT exact", file.empty() ? "" : fmt::format("; recorded in {}", file));
  for (const std::string& line : top_stack_lines(last, process.trace->symbolizer(), kTopStacks)) {
    message += fmt::format("\n  {}", printable_unicode(line));
  }
  write(target, process, end, std::move(message), file);
}

void EndReporter::report_untraced(const TargetState& target, const TargetProcess& process, const ProcessEnd& end,
                                  Time now) {
  if (!end.is_crash() || !may_report(target.config.name, true, now)) return;
  std::string message = whose(target, process, end);
  if (process.memory) {
    message += fmt::format("; it was not traced, and had {} of anonymous memory",
                           readable(process.memory->anonymous_bytes + process.memory->swapped_bytes));
  }
  write(target, process, end, std::move(message), {});
}

}  // namespace hawk

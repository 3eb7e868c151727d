#include "userspace/export/exported_stacks.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "userspace/base/printable.h"
#include "userspace/report/units.h"
#include "userspace/report/verdict.h"
#include "userspace/tables/losses.h"
#include "userspace/views/age_view.h"
#include "userspace/views/view_notes.h"

namespace hawk {
namespace {

std::vector<LocationId> locations_of(const Snapshot& snapshot, const std::vector<const StackRecord*>& records,
                                     const CallTable& calls) {
  std::vector<char> is_used(snapshot.locations.size());
  for (const StackRecord* record : records) {
    for (const LocationId id : record->frames) is_used[static_cast<std::size_t>(id)] = 1;
  }
  std::vector<LocationId> locations;
  for (std::size_t number = 0; number < is_used.size(); ++number) {
    const auto location = static_cast<LocationId>(number);
    if (is_used[number] != 0 && !calls.at(location).empty()) locations.push_back(location);
  }
  return locations;
}

}  // namespace

ExportedStacks::ExportedStacks(const ReportRequest& request, Names names)
    : snapshot_(request.snapshot),
      records_(select_stacks(
          make_stack_view(request.snapshot, request.symbolizer, request.filter, request.before_symbolizing).stacks,
          request.selection)),
      table_(request.snapshot, records_, request.symbolizer, request.role_of, request.before_symbolizing,
             request.filter.hides(request.snapshot)),
      locations_(locations_of(request.snapshot, records_, table_)),
      functions_{{"[no stack]", ""}, {"[truncated stack]", ""}} {
  for (const StackRecord* record : records_) totals_ += record->counters;
  if (const std::optional<GroupKind> kind = request.grouping.split_by()) split(*kind);
  for (const ExportedFunction& function : functions_) placeholders_.emplace_back().name = function.name;
  const bool are_short = names == Names::kShort && !request.full_stacks;
  std::unordered_map<std::string, std::uint32_t> numbers;
  function_of_call_.reserve(table_.size());
  for (const ListedFrame& call : table_.calls()) {
    std::string name =
        printable_unicode(are_short ? call.name : frame_name(call.location, call.source, request.snapshot));
    std::string file = printable_unicode(call.source.file);
    std::string key = fmt::format("{}\n{}", name, file);
    const auto [entry, is_new] = numbers.emplace(std::move(key), static_cast<std::uint32_t>(functions_.size()));
    if (is_new) functions_.push_back({std::move(name), std::move(file)});
    function_of_call_.push_back(entry->second);
  }
}

void ExportedStacks::split(GroupKind kind) {
  groups_.emplace(snapshot_, kind);
  for (std::size_t group = 0; group < groups_->size(); ++group) {
    functions_.push_back({printable_unicode(groups_->name(group)), ""});
  }
  for (GroupedStack& part : split_by_group(records_, snapshot_, *groups_)) {
    split_.push_back(std::move(part.stack));
    group_of_.push_back(part.group);
  }
  records_.clear();
  for (const StackRecord& stack : split_) records_.push_back(&stack);
}

void ExportedStacks::push_locations(const StackRecord& stack, NumberedPaths& paths) const {
  for (std::size_t i = stack.frames.size(); i-- > 0;) {
    if (!calls_at(stack.frames[i]).empty()) paths.push(static_cast<std::uint32_t>(stack.frames[i]));
  }
}

std::vector<std::size_t> ExportedStacks::by_number() const {
  std::vector<std::size_t> indices(records_.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::stable_sort(indices.begin(), indices.end(),
                   [this](std::size_t one, std::size_t other) { return records_[one]->id < records_[other]->id; });
  return indices;
}

void ExportedStacks::append_placeholders(FrameList& calls, const StackRecord& stack, bool has_calls) const {
  if (!has_calls) {
    calls.push_back(&placeholders_[kNoStackCall]);
  } else if (stack.quality() == HAWK_STACK_TRUNCATED) {
    calls.push_back(&placeholders_[kTruncatedCall]);
  }
  if (groups_) calls.push_back(&placeholders_[kFirstGroupCall + group_of(stack)]);
}

FrameList ExportedStacks::placeholders_of(const StackRecord& stack) const {
  FrameList calls;
  append_placeholders(calls, stack, !table_.list(stack).empty());
  return calls;
}

FrameList ExportedStacks::calls(const StackRecord& stack) const {
  FrameList calls = table_.list(stack);
  append_placeholders(calls, stack, !calls.empty());
  return calls;
}

std::vector<StackShare> ExportedStacks::shares_of(const StackRecord& stack) const {
  if (snapshot_.parts.empty() || (groups_ && groups_->is_of_threads())) {
    return {{stack.id, stack.target, stack.counters}};
  }
  std::vector<StackShare> shares;
  for (const StackShare& share : snapshot_.shares_of(stack.id)) {
    if (!groups_ || groups_->group_of(share.target) == group_of(stack)) shares.push_back(share);
  }
  return shares;
}

std::string command_text(const Snapshot& snapshot) {
  return printable_unicode(snapshot.parts.empty() ? snapshot.target().exe : processes_text(snapshot));
}

std::string origin_line(const ReportRequest& request) {
  const Snapshot& snapshot = request.snapshot;
  std::string line =
      fmt::format("hawktrace {}: {}, traced for {}: {}", request.hawktrace_version, processes_text(snapshot),
                  format_duration(snapshot.trace.duration_ns), verdict(snapshot, NumberStyle::kReadable).text);
  for (const std::string& note : {moment_text(snapshot), narrowing_text(request.filter)}) {
    if (!note.empty()) line += "; " + note;
  }
  return printable_unicode(line);
}

std::vector<std::string> loss_lines(const Snapshot& snapshot) {
  std::vector<std::string> lines;
  for (std::size_t cause = 0; cause < snapshot.losses.counts.size(); ++cause) {
    if (snapshot.losses.counts[cause] == 0) continue;
    lines.push_back(fmt::format("{}: {}", loss_texts()[cause].json_name, snapshot.losses.counts[cause]));
  }
  return lines;
}

}  // namespace hawk

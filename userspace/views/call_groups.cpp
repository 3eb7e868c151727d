#include "userspace/views/call_groups.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "userspace/report/units.h"
#include "userspace/tables/word_numbers.h"
#include "userspace/views/target_groups.h"

namespace hawk {
namespace {

enum class GroupNumber : std::uint32_t {};

std::string module_path(const ListedFrame& call, const Snapshot& snapshot) {
  const Module* const module = call.location.module ? find_module(snapshot, *call.location.module) : nullptr;
  return module != nullptr ? module->path : "";
}

/// What calls of one file have in common, where the file is not known: the module.
std::string unknown_file(const ListedFrame& call, const Snapshot& snapshot) {
  const std::string path = module_path(call, snapshot);
  return path.empty() ? "[in no file]" : fmt::format("[{}]", path);
}

/// A text that calls of one group have in common, and no others. Not of functions, which are numbered already.
std::string key_text(const ListedFrame& call, GroupKind kind, const Snapshot& snapshot) {
  if (kind == GroupKind::kModule) return module_path(call, snapshot);
  if (call.source.file.empty()) {
    return kind == GroupKind::kFile ? unknown_file(call, snapshot) : fmt::format("#{}", call.function_number);
  }
  return kind == GroupKind::kFile ? call.source.file : fmt::format("{}:{}", call.source.file, call.source.line);
}

/// By the number of each call, the number of what it is grouped by.
std::vector<std::uint32_t> keys_of(const CallTable& calls, GroupKind kind, const Snapshot& snapshot) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::uint32_t> keys;
  keys.reserve(calls.size());
  for (const ListedFrame& call : calls.calls()) {
    if (kind == GroupKind::kFunction || kind == GroupKind::kCaller || kind == GroupKind::kStack) {
      keys.push_back(call.function_number);
    } else {
      keys.push_back(numbers.emplace(key_text(call, kind, snapshot), numbers.size()).first->second);
    }
  }
  return keys;
}

class Grouper {
 public:
  Grouper(const CallTable& calls, GroupKind kind, const Snapshot& snapshot)
      : calls_(calls), kind_(kind), keys_(keys_of(calls, kind, snapshot)) {}

  void add(const StackRecord& stack, const FrameList& frames) {
    ++stacks_;
    if (frames.empty()) return add(group_of(nullptr, nullptr), stack, true);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const bool has_caller = kind_ == GroupKind::kCaller && i + 1 < frames.size();
      add(group_of(frames[i], has_caller ? frames[i + 1] : nullptr), stack, i == 0);
    }
  }

  std::vector<CallGroup> take() { return std::move(groups_); }

 private:
  static constexpr std::uint32_t kNothing = 0xfffffffe;

  std::size_t group_of(const ListedFrame* call, const ListedFrame* caller) {
    const auto key = [&](const ListedFrame* of) { return of != nullptr ? keys_[calls_.number_of(*of)] : kNothing; };
    const std::uint64_t word = std::uint64_t{key(call)} << 32U | key(caller);
    return static_cast<std::size_t>(numbers_.find_or_add(word, [&] {
      groups_.push_back({.call = call, .caller = caller, .self = {}, .cumulative = {}});
      last_stack_.push_back(0);
      return static_cast<GroupNumber>(groups_.size() - 1);
    }));
  }

  void add(std::size_t group, const StackRecord& stack, bool is_innermost) {
    if (is_innermost) groups_[group].self.add(stack);
    if (last_stack_[group] == stacks_) return;
    last_stack_[group] = stacks_;
    groups_[group].cumulative.add(stack);
  }

  const CallTable& calls_;
  const GroupKind kind_;
  const std::vector<std::uint32_t> keys_;
  WordNumbers<GroupNumber> numbers_;
  std::vector<CallGroup> groups_;
  std::vector<std::size_t> last_stack_;  ///< by group: which stack was added to it last, counted from 1
  std::size_t stacks_ = 0;
};

std::string function_name(const ListedFrame* call, const Snapshot& snapshot, bool short_names) {
  if (call == nullptr) return "[no caller]";
  return short_names ? call->name : frame_name(call->location, call->source, snapshot);
}

/// Every process is in a group, whether or not any stack of it is in `view`.
std::vector<CallGroup> group_targets(const StackView& view, const Snapshot& snapshot, GroupKind kind) {
  const TargetGroups targets(snapshot, kind);
  std::vector<CallGroup> groups(targets.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    groups[group].target = targets.shared_first(group);
    groups[group].processes = targets.process_count(group);
  }
  for (const GroupedStack& part : split_by_group(view.stacks, snapshot, targets))
    groups[part.group].self.add(part.stack);
  for (CallGroup& group : groups) group.cumulative = group.self;
  return groups;
}

std::string processes_text(std::string_view number, std::size_t count) {
  return fmt::format("{} process{}", number, count == 1 ? "" : "es");
}

}  // namespace

std::vector<CallGroup> group_calls(const StackView& view, const CallTable& calls, const Snapshot& snapshot,
                                   GroupKind kind, bool with_folded) {
  if (is_of_targets(kind)) return group_targets(view, snapshot, kind);
  Grouper grouper(calls, kind, snapshot);
  for (const StackRecord* stack : view.stacks) {
    const FrameList frames = calls.list(*stack);
    grouper.add(*stack, with_folded ? frames : telling_calls(frames));
  }
  return grouper.take();
}

std::uint64_t group_value(const CallGroup& group, SortKey sort, bool cumulative) {
  return sort_value((cumulative ? group.cumulative : group.self).counters, sort);
}

void select_groups(std::vector<CallGroup>& groups, const Selection& selection, bool cumulative_first) {
  std::erase_if(groups, [&](const CallGroup& group) {
    return !is_large_enough((cumulative_first ? group.cumulative : group.self).counters, selection);
  });
  std::stable_sort(groups.begin(), groups.end(), [&](const CallGroup& a, const CallGroup& b) {
    for (const bool cumulative : {cumulative_first, !cumulative_first}) {
      const std::uint64_t of_a = group_value(a, selection.sort, cumulative);
      const std::uint64_t of_b = group_value(b, selection.sort, cumulative);
      if (of_a != of_b) return of_a > of_b;
    }
    return false;
  });
  if (selection.top != 0 && groups.size() > selection.top) groups.resize(selection.top);
}

std::string group_name(const CallGroup& group, GroupKind kind, const Snapshot& snapshot, bool short_names) {
  if (group.target != nullptr) return TargetGroups::target_group_name(*group.target, kind);
  if (group.call == nullptr) return "[no stack]";
  const ListedFrame& call = *group.call;
  const std::size_t components = short_names ? 2 : 0;
  switch (kind) {
    case GroupKind::kStack:
    case GroupKind::kFunction:
      return function_name(&call, snapshot, short_names);
    case GroupKind::kCaller:
      return fmt::format("{} < {}", function_name(&call, snapshot, short_names),
                         function_name(group.caller, snapshot, short_names));
    case GroupKind::kFile:
      if (call.source.file.empty()) return unknown_file(call, snapshot);
      return source_position({.function = {}, .file = call.source.file}, components);
    case GroupKind::kLine:
      if (call.source.file.empty()) return function_name(&call, snapshot, short_names);
      return source_position(call.source, components);
    case GroupKind::kModule:
    case GroupKind::kProcess:
    case GroupKind::kExecutable:
    case GroupKind::kCgroup:
    case GroupKind::kThread:
      break;
  }
  const std::string path = module_path(call, snapshot);
  return path.empty() ? "[in no file]" : path;
}

std::string group_position(const CallGroup& group, GroupKind kind, const Snapshot& snapshot) {
  if (kind == GroupKind::kProcess) return group.target->exe;
  if (kind == GroupKind::kThread) {
    return group.processes == 1 ? "" : fmt::format("{} threads", format_count(group.processes, NumberStyle::kReadable));
  }
  if (group.target != nullptr) {
    return processes_text(format_count(group.processes, NumberStyle::kReadable), group.processes);
  }
  if (group.call == nullptr) return {};
  const ListedFrame& call = *group.call;
  if (kind == GroupKind::kLine) return call.source.file.empty() ? "" : call.name;
  if (kind != GroupKind::kFunction && kind != GroupKind::kCaller) return {};
  if (!call.source.file.empty()) return file_name(call.source.file);
  return call.source.function.empty() ? "" : file_name(module_path(call, snapshot));
}

std::string group_count(std::size_t count, GroupKind kind, bool more) {
  const std::string number = format_count(count, NumberStyle::kReadable) + (more ? " more" : "");
  const std::string_view plural = count == 1 ? "" : "s";
  if (kind == GroupKind::kCaller) return fmt::format("{} pair{} of function and caller", number, plural);
  if (kind == GroupKind::kProcess) return processes_text(number, count);
  if (kind == GroupKind::kThread) return fmt::format("{} name{} of threads", number, plural);
  return fmt::format("{} {}{}", number, group_kind_words(kind), plural);
}

}  // namespace hawk

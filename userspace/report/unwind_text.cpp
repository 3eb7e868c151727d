#include "userspace/report/unwind_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/report/frame_list.h"
#include "userspace/report/units.h"
#include "userspace/tables/stack_ends.h"

namespace hawk {
namespace {

constexpr std::size_t kMaxCauses = 8;  // more are of no use to a reader
constexpr std::size_t kShareColumns = 8;

/// Whether a walk along frame pointers could have continued there.
bool could_be_guessed(hawk_end end) {
  return end == HAWK_END_NO_CODE || end == HAWK_END_NO_TABLE || end == HAWK_END_GAP;
}

std::string_view guess_text(hawk_end end, bool knows_module) {
  if (end == HAWK_END_NO_CODE) return "code outside files, such as JIT-compiled code";
  if (end == HAWK_END_NO_TABLE && knows_module) return "no unwind table in";
  return "code missing from its file's unwind table, or whose table had not been read yet";
}

}  // namespace

UnwindText::UnwindText(const Snapshot& snapshot, Quantity quantity)
    : snapshot_(snapshot),
      shares_(unwind_shares(snapshot)),
      guesses_were_asked_for_(snapshot.trace.unwind == "fp"),
      quantity_(bytes_of(snapshot.totals, quantity) == 0 ? Quantity::kAllocated : quantity) {}

std::string UnwindText::share(const StackGroup& group) const {
  return format_share(bytes_of(group.counters, quantity_), bytes_of(snapshot_.totals, quantity_));
}

bool UnwindText::all_complete() const {
  return shares_.by_quality[HAWK_STACK_GUESSED].stacks + shares_.by_quality[HAWK_STACK_TRUNCATED].stacks == 0;
}

std::string UnwindText::summary() const {
  const StackGroup& complete = shares_.by_quality[HAWK_STACK_COMPLETE];
  const StackGroup& truncated = shares_.by_quality[HAWK_STACK_TRUNCATED];
  const std::string of_bytes = fmt::format(" of {} bytes", quantity_name(quantity_));
  std::string text = "stacks: ";
  if (guesses_were_asked_for_) {
    text += "guessed along frame pointers (--unwind fp)";
    if (holds_any(truncated)) text += fmt::format(", {}{} cut at --stack-depth", share(truncated), of_bytes);
    return text;
  }
  if (all_complete()) return text + (shares_.not_recorded.stacks == 0 ? "all complete" : "all recorded ones complete");
  text += fmt::format("{}{} complete", share(complete), of_bytes);
  const std::string rest = short_summary();
  if (!rest.empty()) text += ", " + rest;
  if (holds_any(shares_.not_recorded)) text += fmt::format(", {} not recorded", share(shares_.not_recorded));
  return text;
}

std::string UnwindText::short_summary() const {
  std::string text;
  for (const enum hawk_stack_quality quality : {HAWK_STACK_GUESSED, HAWK_STACK_TRUNCATED}) {
    const StackGroup& group = shares_.by_quality[quality];
    if (!holds_any(group) || (quality == HAWK_STACK_GUESSED && guesses_were_asked_for_)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", share(group), quality_name(quality));
  }
  return text;
}

std::string UnwindText::unsupported_reasons(ModuleId module) const {
  std::string reasons;
  for (const UnsupportedRules& rules : snapshot_.unwind.unsupported_rules) {
    if (rules.module == module) reasons += (reasons.empty() ? "" : ", ") + rules.reason;
  }
  return reasons;
}

std::string UnwindText::cause_text(const UnwindCause& cause) const {
  const Module* const module = cause.module ? find_module(snapshot_, *cause.module) : nullptr;
  std::string text = fmt::format("{}: ", quality_name(cause.quality));
  if (cause.quality == HAWK_STACK_GUESSED) {
    text += guess_text(cause.end, module != nullptr);
    if (module != nullptr) text += " " + module->path;
    const std::string why =
        cause.end == HAWK_END_NO_TABLE && module != nullptr ? unsupported_reasons(*cause.module) : "";
    return why.empty() ? text : text + fmt::format(" ({})", why);
  }
  text += end_text(cause.end).sentence;
  if (module == nullptr) return text;
  const std::string reasons = cause.end == HAWK_END_UNSUPPORTED ? unsupported_reasons(*cause.module) : "";
  return text + fmt::format(" ({}{}{})", module->path, reasons.empty() ? "" : ": ", reasons);
}

UnwindText::Causes UnwindText::causes() const {
  std::vector<UnwindCause> causes = unwind_causes(snapshot_, quantity_);
  std::erase_if(causes, [&](const UnwindCause& cause) { return !holds_any(cause.group); });
  Causes text;
  text.hints = hints(causes);
  StackGroup rest;
  for (std::size_t index = 0; index < causes.size(); ++index) {
    const UnwindCause& cause = causes[index];
    if (index < kMaxCauses) {
      text.lines.push_back(fmt::format("{:>{}}  {}", share(cause.group), kShareColumns, cause_text(cause)));
    } else {
      rest.counters += cause.group.counters;
    }
  }
  if (causes.size() > kMaxCauses) {
    text.lines.push_back(fmt::format("{:>{}}  {} more", share(rest), kShareColumns, causes.size() - kMaxCauses));
  }
  return text;
}

std::vector<std::string> UnwindText::hints(const std::vector<UnwindCause>& causes) const {
  bool guessed = false;
  bool could_go_on = false;
  for (const UnwindCause& cause : causes) {
    guessed = guessed || cause.quality == HAWK_STACK_GUESSED;
    could_go_on = could_go_on || (cause.quality == HAWK_STACK_TRUNCATED && could_be_guessed(cause.end));
  }
  std::vector<std::string> hints;
  if (guessed) {
    hints.emplace_back(
        "hint: guesses are reliable only if the code keeps frame pointers; build with -fno-omit-frame-pointer, or with "
        "unwind tables (-fasynchronous-unwind-tables); for Java -XX:+PreserveFramePointer");
  }
  if (could_go_on && snapshot_.trace.unwind == "cfi") {
    hints.emplace_back("hint: --unwind auto continues along frame pointers where there is no unwind table");
  }
  return hints;
}

std::string UnwindText::end_mark(const StackRecord& stack) const {
  if (stack.id == kNoStack) return {};
  const enum hawk_stack_quality quality = stack.quality();
  if (stack.end == HAWK_END_DEPTH) return "… (cut at --stack-depth)";
  if (quality == HAWK_STACK_TRUNCATED) return fmt::format("… (truncated: {})", end_text(stack.end).sentence);
  const bool is_worth_saying = !guesses_were_asked_for_ && shares_.by_quality[HAWK_STACK_COMPLETE].stacks != 0;
  return quality == HAWK_STACK_GUESSED && is_worth_saying ? "(guessed along frame pointers)" : "";
}

}  // namespace hawk

#include "userspace/report/loss_block.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "userspace/report/display_text.h"
#include "userspace/report/verdict.h"

namespace hawk {
namespace {

/// Remedies for causes that disappear with a larger table or a greater depth of stacks, if it is not at its maximum.
/// Empty: the user can do nothing.
std::string remedy_by_limit(std::size_t cause, const TraceLimits& limits) {
  const std::string_view or_memory = limits.has_max_memory ? ", or --max-memory" : "";
  switch (cause) {
    case HAWK_LOSS_LIVE_TABLE_FULL:
      if (limits.may_raise_blocks) return fmt::format("raise --max-blocks{}", or_memory);
      return limits.has_max_memory ? "raise --max-memory" : "follow fewer blocks: --min-block";
    case HAWK_LOSS_STACK_TABLE_FULL:
      return limits.may_raise_stacks ? "raise --max-stacks" : "";
    case HAWK_LOSS_FRAMES_FULL:
      if (!limits.may_raise_stacks) return limits.has_max_memory ? "raise --max-memory" : "";
      return fmt::format("raise --max-stacks{}", or_memory);
    case HAWK_LOSS_TRUNCATED_STACK:
      return limits.may_raise_depth ? "raise --stack-depth" : "";
    default:
      return "";
  }
}

/// Empty: nothing the user could do.
std::string remedy(std::size_t cause, const Snapshot& snapshot) {
  switch (cause) {
    case HAWK_LOSS_UNSEEN_SHARER:
      return "trace with --attach-via perf, which sees them";
    case HAWK_LOSS_LATE_ALLOCATOR:
      return "attach after the library is loaded, or start the program with hawktrace -- COMMAND; a library to preload "
             "is named before hawktrace, not in the command: sudo env LD_PRELOAD=... hawktrace -- COMMAND";
    case HAWK_LOSS_INTERCEPTED_CALL:
      return "end strace, or the program that traces the process; a process that handles its own system calls cannot "
             "be traced";
    case HAWK_LOSS_MISSING_BREAKPOINT:
      return "the process maps the code writable or shared, or has overwritten it: a warning names the functions";
    case HAWK_LOSS_PASSED_OVER:
      return "the kernel preempts itself, and such an event of any process is passed over while another one is seen to "
             "on that processor: calls that never returned, children, programs or libraries may be missing; --verbose "
             "names the events";
    case HAWK_LOSS_NO_ALLOCATOR:
      return std::string(no_allocator_hint(snapshot.parts.empty() && snapshot.target().is_go));
    case HAWK_LOSS_UNFOLLOWED_CALL:
      return "--verbose names the functions whose calls are counted";
    case HAWK_LOSS_UNTRACED_CHILD:
      return "trace child processes as well: --follow (Linux 6.13)";
    default:
      return remedy_by_limit(cause, snapshot.trace.limits);
  }
}

std::string_view heading(Promise promise, bool is_one) {
  switch (promise) {
    case Promise::kNumbers:
      return "the numbers above are NOT exact:";
    case Promise::kStacks:
      return "not every stack is complete:";
    case Promise::kChildren:
      break;
  }
  return is_one ? "the numbers cover only this process:" : "the numbers cover only these processes:";
}

/// The text about a cause; for children, also their programs.
std::string sentence_of(std::size_t cause, const Snapshot& snapshot, NumberStyle style) {
  std::string sentence = worded_for(snapshot.losses.counts[cause], loss_texts()[cause].sentence);
  if (cause != HAWK_LOSS_UNTRACED_CHILD) return sentence;
  const std::string programs = child_programs_text(snapshot.children, style);
  return programs.empty() ? sentence : fmt::format("{}: {}", sentence, programs);
}

/// The block of one promise; no line if it is kept.
std::vector<StyledLine> broken_promise(Promise promise, const Snapshot& snapshot, NumberStyle style,
                                       std::size_t max_columns) {
  const Losses& losses = snapshot.losses;
  std::vector<StyledLine> lines;
  if (losses.keep(promise)) return lines;
  lines.push_back(StyledLine{}.add(heading(promise, snapshot.parts.empty()),
                                   promise == Promise::kNumbers ? Style::kBad : Style::kStrong));
  std::size_t number_columns = 0;
  const auto concerns = [&](std::size_t cause) {
    return losses.counts[cause] != 0 && loss_texts()[cause].promise == promise;
  };
  for (std::size_t cause = 0; cause < losses.counts.size(); ++cause) {
    if (concerns(cause)) number_columns = std::max(number_columns, format_count(losses.counts[cause], style).size());
  }
  const std::size_t indent = number_columns + 4;
  const std::size_t room = max_columns > indent ? max_columns - indent : 0;
  for (std::size_t cause = 0; cause < losses.counts.size(); ++cause) {
    if (!concerns(cause)) continue;
    StyledLine line;
    line.add("  ").add(align_right(format_count(losses.counts[cause], style), number_columns), Style::kBad).add("  ");
    for (const std::string& words : wrap_words(sentence_of(cause, snapshot, style), room, 0)) {
      lines.push_back(line.add(words));
      line = StyledLine{}.add(std::string(indent, ' '));
    }
    const std::string hint = remedy(cause, snapshot);
    if (hint.empty()) continue;
    for (const std::string& words : wrap_words("hint: " + hint, room, 6)) {
      lines.push_back(StyledLine{}.add(std::string(indent, ' ')).add(words));
    }
  }
  return lines;
}

}  // namespace

std::vector<StyledLine> render_losses(const Snapshot& snapshot, NumberStyle style, std::size_t max_columns) {
  std::vector<StyledLine> lines;
  if (snapshot.losses.keep(Promise::kNumbers) && !snapshot.numbers_exact()) {
    lines.push_back(StyledLine{}.add("verification failed: the numbers above are NOT exact", Style::kBad));
  }
  for (const Promise promise : {Promise::kNumbers, Promise::kStacks, Promise::kChildren}) {
    for (StyledLine& line : broken_promise(promise, snapshot, style, max_columns)) lines.push_back(std::move(line));
  }
  if (lines.empty()) {
    for (const std::string& words :
         wrap_words("nothing was missed: every number above is exact except the peak, which is a lower bound",
                    max_columns, 0)) {
      lines.push_back(StyledLine{}.add(words, Style::kGood));
    }
  }
  return lines;
}

}  // namespace hawk

#include "userspace/report/loss_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

/// Empty: nothing the user could do.
std::string_view remedy(std::size_t cause) {
  switch (cause) {
    case HAWK_LOSS_LIVE_TABLE_FULL:
      return "raise --max-blocks, or --max-memory if it was set";
    case HAWK_LOSS_STACK_TABLE_FULL:
      return "raise --max-stacks";
    case HAWK_LOSS_FRAMES_FULL:
      return "raise --max-stacks, or --max-memory if it was set";
    case HAWK_LOSS_TRUNCATED_STACK:
      return "raise --stack-depth";
    case HAWK_LOSS_UNSEEN_SHARER:
      return "trace with --attach-via perf, which sees them";
    case HAWK_LOSS_LATE_ALLOCATOR:
      return "start tracing after the library is loaded, or start the program with hawktrace -- COMMAND";
    case HAWK_LOSS_INTERCEPTED_CALL:
      return "end strace, or whatever traces the process; one that handles its system calls itself cannot be traced";
    case HAWK_LOSS_MISSING_BREAKPOINT:
      return "the process maps the code writable or shared, or has written over it: a warning names the functions";
    case HAWK_LOSS_NO_ALLOCATOR:
      return "a static program must not be stripped: its symbol table names the functions to probe";
    case HAWK_LOSS_UNFOLLOWED_CALL:
      return "--verbose names the functions whose calls are counted";
    default:
      return "";
  }
}

std::vector<StyledLine> occurred_lines(const Losses& losses, NumberStyle style, std::size_t max_columns) {
  std::size_t number_columns = 0;
  for (const std::uint64_t count : losses.counts) {
    if (count != 0) number_columns = std::max(number_columns, format_count(count, style).size());
  }
  const std::size_t indent = number_columns + 4;
  const std::size_t room = max_columns > indent ? max_columns - indent : 0;
  std::vector<StyledLine> lines;
  for (std::size_t cause = 0; cause < losses.counts.size(); ++cause) {
    if (losses.counts[cause] == 0) continue;
    StyledLine line;
    line.add("  ").add(align_right(format_count(losses.counts[cause], style), number_columns), Style::kBad).add("  ");
    for (const std::string& words : wrap_words(loss_texts()[cause].sentence, room, 0)) {
      lines.push_back(line.add(words));
      line = StyledLine{}.add(std::string(indent, ' '));
    }
    if (remedy(cause).empty()) continue;
    for (const std::string& words : wrap_words(fmt::format("hint: {}", remedy(cause)), room, 6)) {
      lines.push_back(StyledLine{}.add(std::string(indent, ' ')).add(words));
    }
  }
  return lines;
}

}  // namespace

std::vector<StyledLine> render_losses(const Losses& losses, bool exact, NumberStyle style, std::size_t max_columns) {
  std::vector<StyledLine> lines;
  const std::uint64_t total = losses.total();
  if (total == 0 && !exact) {
    lines.push_back(
        StyledLine{}.add("losses: 0, but verification failed, the numbers above are NOT exact", Style::kBad));
  } else if (total == 0) {
    lines.push_back(StyledLine{}.add("losses: 0, every number above is exact", Style::kGood));
  } else {
    lines.push_back(StyledLine{}
                        .add("losses: " + format_count(total, style), Style::kBad)
                        .add(", the numbers above are NOT exact", Style::kBad));
  }
  for (StyledLine& line : occurred_lines(losses, style, max_columns)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace hawk

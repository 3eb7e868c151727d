#include "userspace/screen/prompts.h"

#include <fmt/core.h>

#include <string_view>
#include <vector>

#include "userspace/report/quantity.h"
#include "userspace/screen/totals.h"

namespace hawk {
namespace {

std::string sort_keys_text() {
  std::string text;
  for (const SortChoice& choice : kSortChoices) text += fmt::format("{}{}", text.empty() ? "" : " ", choice.key);
  return text;
}

std::vector<std::string> keys_of(const ViewState& state, bool are_several) {
  const std::string pause = state.paused ? "p resume" : "p pause";
  switch (state.page) {
    case Page::kHelp:
      return {"q quit", "? back", "↑↓ scroll"};
    case Page::kProcesses:
      return {"q quit", "Esc back", "↑↓ scroll", pause, "b bytes", "? help"};
    case Page::kStack:
      return {"q quit", "Esc back", "↑↓ scroll", state.all_frames ? "F fold frames" : "F all frames",
              pause,    "b bytes",  "? help"};
    case Page::kList:
      break;
  }
  std::vector<std::string> keys = {
      "q quit", "? help", "Enter open", "/ filter", fmt::format("s sort ({})", sort_choice(state.sort).words),
      pause,    "b bytes"};
  if (are_several) keys.insert(keys.begin() + 3, "P processes");
  if (state.held()) keys.insert(keys.begin() + 2, "Esc top");
  return keys;
}

StyledLine filter_prompt(const ViewState& state, bool is_expression) {
  StyledLine line;
  line.add("/").add(state.filter, Style::kStrong).add("_");
  line.add(is_expression ? "  Enter keep, Esc clear" : "  not a regular expression: searched for literally",
           Style::kDim);
  return line;
}

}  // namespace

ScreenLines help_page() {
  const std::vector<std::string> lines = {
      "↑ ↓ PgUp PgDn Home End   move the cursor; below the top the order is kept",
      "Enter, → or a click      open the stack: all its numbers and frames",
      "Esc, ←                   back to the list, then to its top",
      "/                        show only stacks with a function, file or module",
      "                         that matches a regular expression",
      fmt::format("{}          sort by LIVE, CHANGE, BLOCKS, ALLOC/s, ALLOCATED,", sort_keys_text()),
      "                         ALLOCATIONS, FREES, FUNCTION; or click a title",
      "s, S or > <              sort by the next, the previous of them",
      "p or space               pause the display; tracing goes on",
      "b                        exact bytes, or KiB, MiB, ...",
      "P                        list the traced processes",
      "F                        in a stack: show all frames, or fold some",
      "m                        begin a generation of blocks (--generation)",
      "M                        mouse on or off (off: the terminal selects text)",
      "q                        quit and print the final report",
      "",
      "LIVE     bytes allocated since the trace began and not freed",
      "CHANGE   change of LIVE since the last refresh",
      "BLOCKS   live blocks",
      "ALLOC/s  bytes allocated per second, freed or not",
      "SHARE    share of the total of the column marked ▼",
      "older    freed blocks that were allocated before the trace",
      "FUNCTION function that called the allocator (library frames skipped) and",
      "         its callers; a call after … distinguishes equal lines",
  };
  ScreenLines page;
  for (const std::string& line : lines) page.push_back({StyledLine{}.add(line)});
  return page;
}

StyledLine key_line(const ViewState& state, bool is_expression, bool are_several, std::size_t columns) {
  if (state.editing_filter) return filter_prompt(state, is_expression);
  StyledLine line;
  if (!state.filter.empty() && state.page == Page::kList) {
    line.add("filter /" + state.filter + "/", Style::kStrong).add("  ");
  }
  for (const std::string& key : keys_of(state, are_several)) {
    const std::size_t gap = line.width() == 0 ? 0 : 2;
    if (line.width() != 0 && line.width() + gap + key.size() > columns) break;
    line.add(std::string(gap, ' ')).add(key, Style::kDim);
  }
  return line;
}

std::string empty_list_text(const Moment& moment, const ViewState& state) {
  if (moment.now.totals.allocated_count == 0) return "no allocation yet";
  if (!state.filter.empty()) return "no stack matches the filter; Esc clears it";
  if (moment.now.totals.live_count() != 0) return "no stack to show";
  const std::string rate = moment.previous == nullptr
                               ? ""
                               : rates_text(moment, moment.previous->totals, moment.now.totals, Quantity::kAllocated);
  return fmt::format("everything that was allocated has been freed{}{}; press a to sort by allocated bytes",
                     rate.empty() ? "" : ":", rate);
}

}  // namespace hawk

#include "userspace/commands/process_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "userspace/process/process_list.h"
#include "userspace/report/display_text.h"
#include "userspace/report/units.h"

namespace hawk {

std::vector<int> several_pids(std::string_view text) {
  constexpr std::string_view kBetween = " \t\n,";
  std::vector<int> pids;
  for (text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size())); !text.empty();
       text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()))) {
    const std::string_view word = text.substr(0, text.find_first_of(kBetween));
    int pid = 0;
    const std::from_chars_result parsed = std::from_chars(word.data(), word.data() + word.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size() || pid <= 0) return {};
    pids.push_back(pid);
    text.remove_prefix(word.size());
  }
  return pids.size() > 1 ? pids : std::vector<int>{};
}

tl::unexpected<Error> refuse_several_processes(const std::vector<int>& pids) {
  constexpr std::size_t kCommandColumns = 60;
  constexpr std::size_t kMostLines = 20;
  const std::vector<ProcessSummary> processes = summarize_processes(pids);
  Error error{ExitCode::kUsage,
              fmt::format("--pid: {} processes were given, and one can be traced at a time", pids.size()),
              "give the number of one of them; this is how pidof and pgrep answer for a service of several processes",
              {}};
  if (!processes.empty()) {
    error.details.push_back(fmt::format("{:>10}  {:>11}  {}", "PID", "RSS", "COMMAND"));
    error.hint = fmt::format("choose one: the largest is hawktrace -p {}", processes.front().pid);
  }
  for (const ProcessSummary& process : processes) {
    if (error.details.size() > kMostLines) {
      error.details.push_back(fmt::format("and {} smaller ones", processes.size() - kMostLines));
      break;
    }
    error.details.push_back(fmt::format("{:>10}  {:>11}  {}", process.pid,
                                        format_bytes(process.rss_bytes, NumberStyle::kReadable),
                                        shorten_end(process.command, kCommandColumns)));
  }
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace hawk

#include "userspace/process/process_list.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "userspace/base/process_file.h"

namespace hawk {
namespace {

/// The second number of /proc/PID/statm, proc(5).
std::uint64_t resident_bytes(std::string_view statm) {
  statm.remove_prefix(std::min(statm.find(' '), statm.size()));
  statm.remove_prefix(std::min(statm.find_first_not_of(' '), statm.size()));
  std::uint64_t pages = 0;
  std::from_chars(statm.data(), statm.data() + statm.size(), pages);
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::string command_of(const std::string& directory) {
  std::string command = read_whole_file(directory + "/cmdline").value_or("");
  while (!command.empty() && (command.back() == '\0' || command.back() == ' ')) command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  if (!command.empty()) return command;
  std::string comm = read_whole_file(directory + "/comm").value_or("");
  if (comm.ends_with('\n')) comm.pop_back();
  return fmt::format("[{}]", comm);
}

}  // namespace

std::vector<ProcessSummary> summarize_processes(std::span<const int> pids) {
  std::vector<ProcessSummary> processes;
  for (const int pid : pids) {
    const std::string directory = fmt::format("/proc/{}", pid);
    const Result<std::string> statm = read_whole_file(directory + "/statm");
    if (statm) processes.push_back({pid, resident_bytes(*statm), command_of(directory)});
  }
  std::stable_sort(processes.begin(), processes.end(),
                   [](const ProcessSummary& a, const ProcessSummary& b) { return a.rss_bytes > b.rss_bytes; });
  return processes;
}

}  // namespace hawk

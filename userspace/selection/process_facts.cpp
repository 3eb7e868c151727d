#include "userspace/selection/process_facts.h"

#include <fmt/core.h>

#include <string_view>

#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

/// PF_KTHREAD of include/linux/sched.h; the same value since Linux 2.6.
constexpr std::uint64_t kKernelThreadFlag = 0x00200000;

/// What is wanted of /proc/PID/stat, proc(5).
struct Stat {
  char state = 'X';
  int parent = 0;
  std::uint64_t flags = 0;
  std::uint64_t threads = 0;
  std::uint64_t start_ticks = 0;
};

std::optional<Stat> parse_stat(std::string_view text) {
  if (stat_from_field(text, 22).empty()) return std::nullopt;
  return Stat{.state = stat_from_field(text, 3).front(),
              .parent = leading_number<int>(stat_from_field(text, 4)).value_or(0),
              .flags = leading_number<std::uint64_t>(stat_from_field(text, 9)).value_or(0),
              .threads = leading_number<std::uint64_t>(stat_from_field(text, 20)).value_or(0),
              .start_ticks = leading_number<std::uint64_t>(stat_from_field(text, 22)).value_or(0)};
}

bool has_ended(const Stat& stat) {
  const bool leader_has = stat.state == 'Z' || stat.state == 'X';
  return leader_has && stat.threads <= 1;
}

/// That of a leader which has exited is not there any more, while its threads' is.
std::string executable_of(const ProcDirectory& process, int pid, bool leader_lives) {
  std::optional<std::string> path = process.link("exe");
  if (!path && !leader_lives) {
    for (const int tid : process.threads()) {
      if (tid != pid && (path = process.link(fmt::format("task/{}/exe", tid).c_str()))) break;
    }
  }
  if (!path) return {};
  constexpr std::string_view kDeleted = " (deleted)";
  if (path->ends_with(kDeleted)) path->resize(path->size() - kDeleted.size());
  return std::move(*path);
}

}  // namespace

std::optional<ProcessFacts> read_facts(const ProcRoot& proc, int pid) {
  const std::optional<ProcDirectory> process = proc.process(pid);
  const std::optional<std::string> text = process ? process->read("stat") : std::nullopt;
  const std::optional<Stat> stat = text ? parse_stat(*text) : std::nullopt;
  if (!stat || has_ended(*stat) || (stat->flags & kKernelThreadFlag) != 0) return std::nullopt;
  // In "stat" the kernel escapes it.
  std::optional<std::string> comm = process->read("comm");
  const std::optional<std::string> cgroups = process->read("cgroup");
  if (!comm || !cgroups) return std::nullopt;
  if (comm->ends_with('\n')) comm->pop_back();
  return ProcessFacts{.pid = pid,
                      .parent = stat->parent,
                      .start_ticks = stat->start_ticks,
                      .comm = std::move(*comm),
                      .executable = executable_of(*process, pid, stat->state != 'Z' && stat->state != 'X'),
                      .cgroups = parse_cgroups(*cgroups)};
}

}  // namespace hawk

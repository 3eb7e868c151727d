#include "userspace/serving/metrics.h"

#include <functional>

#include "userspace/serving/metrics_text.h"
#include "userspace/tables/losses.h"

namespace hawk {
namespace {

constexpr std::string_view kGauge = "gauge";
constexpr std::string_view kCounter = "counter";

class MetricsPage {
 public:
  explicit MetricsPage(const MetricsInput& input) : input_(input) {}

  std::string write() {
    put_host();
    put_heaps();
    put_processes();
    put_memory();
    put_costs();
    put_losses();
    put_top_stacks();
    put_server();
    return text_.take();
  }

 private:
  using NumberOf = std::function<std::uint64_t(const ServedTarget&)>;

  void of_targets(std::string_view name, std::string_view type, std::string_view help, const NumberOf& number) {
    text_.begin(name, type, help);
    for (const ServedTarget& target : input_.targets) text_.put({{"target", target.name}}, number(target));
  }

  void one(std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    text_.begin(name, type, help);
    text_.put({}, value);
  }

  void put_host() {
    const ServedHost& host = input_.host;
    text_.begin("hawktrace_build_info", kGauge, "Version of the daemon.");
    text_.put({{"version", HAWKTRACE_VERSION}}, 1);
    text_.begin("hawktrace_start_time_seconds", kGauge, "When the daemon was started, since 1970.");
    text_.put_seconds({}, host.start_unix_ns);
    text_.begin("hawktrace_cpu_seconds_total", kCounter, "CPU time of the daemon and its workers.");
    text_.put_seconds({}, host.cpu_ns);
    one("hawktrace_resident_bytes", kGauge, "Resident memory of the daemon and its workers.", host.resident_bytes);
    one("hawktrace_heap_bytes", kGauge, "What the daemon itself has allocated and not freed.", host.heap_bytes);
    one("hawktrace_kernel_table_bytes", kGauge, "Size of the kernel's tables.", host.table_bytes);
    one("hawktrace_drains_total", kCounter, "Times that the kernel's tables were read.", host.drains);
    text_.begin("hawktrace_longest_drain_seconds", kGauge, "Longest time that reading them took.");
    text_.put_seconds({}, host.longest_drain_ns);
    one("hawktrace_config_reloads_total", kCounter, "Times that the configuration was read again.", host.reloads);
  }

  void put_heaps() {
    of_targets("hawktrace_live_bytes", kGauge, "Allocated since tracing began, and not freed.",
               [](const ServedTarget& target) { return target.live_bytes; });
    of_targets("hawktrace_live_blocks", kGauge, "Blocks of hawktrace_live_bytes.",
               [](const ServedTarget& target) { return target.live_count; });
    of_targets("hawktrace_allocated_bytes_total", kCounter, "Requested bytes.",
               [](const ServedTarget& target) { return target.totals.allocated_bytes; });
    of_targets("hawktrace_allocated_blocks_total", kCounter, "Allocated blocks.",
               [](const ServedTarget& target) { return target.totals.allocated_count; });
    of_targets("hawktrace_freed_bytes_total", kCounter, "Freed bytes of blocks allocated since tracing began.",
               [](const ServedTarget& target) { return target.totals.freed_bytes; });
    of_targets("hawktrace_freed_blocks_total", kCounter, "Freed blocks of those.",
               [](const ServedTarget& target) { return target.totals.freed_count; });
  }

  void put_processes() {
    text_.begin("hawktrace_target_info", kGauge, "Mode and state of each target.");
    for (const ServedTarget& target : input_.targets) {
      text_.put({{"target", target.name}, {"mode", target.mode}, {"state", target.state}}, 1);
    }
    of_targets("hawktrace_processes", kGauge, "Processes that match the target.",
               [](const ServedTarget& target) { return target.processes.size(); });
    of_targets("hawktrace_processes_seen_total", kCounter, "Processes that have matched it so far.",
               [](const ServedTarget& target) { return target.processes_seen; });
    of_targets("hawktrace_processes_ended_total", kCounter, "Those that have ended.",
               [](const ServedTarget& target) { return target.processes_ended; });
    of_targets("hawktrace_processes_crashed_total", kCounter, "Those that a signal has ended.",
               [](const ServedTarget& target) { return target.processes_crashed; });
    of_targets("hawktrace_oom_kills_total", kCounter, "Those that were killed because memory ran out.",
               [](const ServedTarget& target) { return target.oom_kills; });
    of_targets("hawktrace_traces_begun_total", kCounter, "Processes that tracing was begun of.",
               [](const ServedTarget& target) { return target.traces_begun; });
    of_targets("hawktrace_recording_bytes", kGauge, "Size of the target's recordings on disk.",
               [](const ServedTarget& target) { return target.recording_bytes; });
  }

  void of_memory(std::string_view name, std::string_view help, std::uint64_t ProcessMemory::*field) {
    of_targets(name, kGauge, help, [field](const ServedTarget& target) {
      std::uint64_t sum = 0;
      for (const ServedProcess& process : target.processes) {
        if (process.memory) sum += (*process.memory).*field;
      }
      return sum;
    });
  }

  void of_cgroups(std::string_view name, std::string_view type, std::string_view help,
                  const std::function<std::optional<std::uint64_t>(const CgroupMemory&)>& number) {
    text_.begin(name, type, help);
    for (const ServedTarget& target : input_.targets) {
      const std::optional<std::uint64_t> value = target.cgroup ? number(*target.cgroup) : std::nullopt;
      if (value) text_.put({{"target", target.name}}, *value);
    }
  }

  void put_memory() {
    of_memory("hawktrace_process_resident_bytes", "Resident memory of the target's processes.",
              &ProcessMemory::resident_bytes);
    of_memory("hawktrace_process_anonymous_bytes", "Resident memory of no file: heaps and stacks.",
              &ProcessMemory::anonymous_bytes);
    of_memory("hawktrace_process_swapped_bytes", "Anonymous memory that is swapped out.",
              &ProcessMemory::swapped_bytes);
    of_cgroups("hawktrace_cgroup_bytes", kGauge, "Memory of the target's cgroup.",
               [](const CgroupMemory& memory) { return std::optional(memory.current_bytes); });
    of_cgroups("hawktrace_cgroup_limit_bytes", kGauge, "Its limit, if there is one.",
               [](const CgroupMemory& memory) { return memory.max_bytes; });
    of_cgroups("hawktrace_cgroup_oom_kills_total", kCounter, "Processes that were killed in it.",
               [](const CgroupMemory& memory) { return std::optional(memory.oom_kills); });
  }

  void put_costs() {
    of_targets("hawktrace_calls_total", kCounter, "Calls of the allocator that were traced.",
               [](const ServedTarget& target) { return target.calls; });
    text_.begin("hawktrace_call_cost_seconds", kGauge, "What tracing costs the target per call, as measured.");
    for (const ServedTarget& target : input_.targets) {
      if (target.cost_per_call_ns) text_.put_seconds({{"target", target.name}}, *target.cost_per_call_ns);
    }
    text_.begin("hawktrace_overhead_ratio", kGauge, "What tracing costs the target, as a share of one CPU.");
    for (const ServedTarget& target : input_.targets) text_.put_ratio({{"target", target.name}}, target.overhead);
    of_targets("hawktrace_budget_detaches_total", kCounter, "Times that tracing was given up because of its cost.",
               [](const ServedTarget& target) { return target.budget_detaches; });
  }

  void put_losses() {
    text_.begin("hawktrace_losses_total", kCounter, "What was missed, by cause; numbers are exact where all are 0.");
    for (const ServedTarget& target : input_.targets) {
      for (std::size_t cause = 0; cause < HAWK_LOSS_COUNT; ++cause) {
        text_.put({{"target", target.name}, {"cause", loss_texts()[cause].json_name}}, target.losses.counts[cause]);
      }
    }
  }

  void put_top_stacks() {
    if (input_.top_stacks.empty()) return;
    text_.begin("hawktrace_stack_live_bytes", kGauge, "Live bytes of the stacks that have most.");
    for (const TopStacks& top : input_.top_stacks) {
      for (const TopStack& stack : top.stacks) {
        text_.put({{"target", top.target}, {"stack", stack.fingerprint}, {"function", stack.function}},
                  stack.counters.live_bytes());
      }
    }
  }

  void put_server() {
    if (input_.http != nullptr) {
      text_.begin("hawktrace_http_answers_total", kCounter, "Answers to requests, by their status.");
      for (const auto& [status, count] : input_.http->answers) text_.put({{"code", std::to_string(status)}}, count);
      one("hawktrace_http_connections", kGauge, "Connections that are open.", input_.http_connections);
      one("hawktrace_http_refused_connections_total", kCounter, "Connections given up: there were too many.",
          input_.http->refused_connections);
      one("hawktrace_http_timed_out_connections_total", kCounter, "Connections given up: the client was too slow.",
          input_.http->timed_out_connections);
    }
    if (input_.pushes != nullptr) {
      text_.begin("hawktrace_pushes_total", kCounter, "Profiles that were to be sent, by what has become of them.");
      text_.put({{"result", "sent"}}, input_.pushes->sent);
      text_.put({{"result", "failed"}}, input_.pushes->failed);
    }
  }

  const MetricsInput& input_;
  MetricsText text_;
};

}  // namespace

std::string metrics_page(const MetricsInput& input) { return MetricsPage(input).write(); }

}  // namespace hawk

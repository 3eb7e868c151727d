#include "userspace/daemon/config_keys.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "userspace/attach/trace_config.h"
#include "userspace/base/option_values.h"
#include "userspace/daemon/config_setters.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

constexpr std::array kModes = {TargetMode::kExact, TargetMode::kWatch, TargetMode::kOff};
constexpr std::array kScopes = {LinkScope::kProcess, LinkScope::kFile};
constexpr double kAllProcessors = 100'000;  // per cent of one
constexpr std::uint32_t kMinStacks = 16;
constexpr std::uint32_t kMostProcesses = 1000;
constexpr std::chrono::nanoseconds kMinInterval = 100ms;

void add_watch_keys(ConfigKeys& keys, WatchRules& watch) {
  keys.insert(
      keys.end(),
      {
          {"watch-every", R"("10s")", true, "time between samples of memory (mode \"watch\", as all of watch-...)",
           set_span(watch.every, kMinInterval)},
          {"watch-time-to-limit", R"("30m")", true,
           "trace if the limit of the cgroup or machine is reached in less time at the present growth",
           set_span(watch.time_to_limit, 1s)},
          {"watch-min-growth", R"("64M")", true, "ignore growth of less than this, and of less than 5 %",
           set_bytes(watch.min_growth_bytes)},
          {"watch-high-water", R"("2G")", false,
           "trace when more is used, and again at each level 10 % above the last one that did so",
           set_bytes(watch.high_water_bytes)},
          {"watch-pressure", "20.0", false,
           "trace when the cgroup's tasks wait for memory for this percentage of the last 10 seconds",
           set_percent(watch.pressure_percent, 100)},
          {"watch-window", R"("5m")", true, "how long such a trace lasts", set_span(watch.window, 1s)},
      });
}

void add_recording_keys(ConfigKeys& keys, RecordingRules& recording) {
  keys.insert(
      keys.end(),
      {
          {"record", "true", true, "write recordings, for hawktrace report", set_with(recording.enabled, flag_of)},
          {"record-every", R"("1m")", true, "time between the intervals of a recording",
           set_span(recording.every, kMinInterval)},
          {"record-file-size", R"("32M")", true, "begin a new file at this size", set_bytes(recording.file_bytes)},
          {"record-file-age", R"("24h")", true, "begin a new file at this age", set_span(recording.file_age, 1s)},
          {"keep-size", R"("256M")", true, "remove the oldest files of the target if all of them are larger",
           set_bytes(recording.keep_bytes)},
          {"keep-age", R"("168h")", true, "remove files of the target that are older",
           set_span(recording.keep_age, 1s)},
          {"dump-allocated", R"("1G")", false, "also record each time that many more bytes have been allocated",
           set_bytes(recording.dump_allocated_bytes)},
          {"dump-growth", R"("100M")", false,
           "also record each time that many more bytes are live than at the last dump",
           set_bytes(recording.dump_growth_bytes)},
          {"dump-peak", "false", true, "also record each new peak, 10 % and 1 MiB above the last one",
           set_with(recording.dump_peak, flag_of)},
          {"record-ages", "false", true,
           "at the end of each file and process and at dumps: when live blocks were allocated, for report --min-age",
           set_with(recording.ages, flag_of)},
          {"record-histograms", "false", true,
           "with these also sizes and lifetimes of blocks, for report --histograms: 560 bytes for each of max-stacks",
           set_with(recording.histograms, flag_of)},
      });
}

}  // namespace

std::string_view target_mode_name(TargetMode mode) {
  switch (mode) {
    case TargetMode::kExact:
      return "exact";
    case TargetMode::kWatch:
      return "watch";
    case TargetMode::kOff:
      break;
  }
  return "off";
}

ConfigKeys daemon_keys(DaemonConfig& config) {
  return {
      {"interval", R"("1s")", true, "time between readings of the kernel's counters",
       set_span(config.interval, kMinInterval)},
      {"directory", R"("/var/lib/hawktrace")", true, "recordings, in a directory for each target",
       set_with(config.directory, absolute_path_of)},
      {"oomd-hook", R"("/run/systemd/oomd.prekill.hook/hawktrace")", true,
       "socket at which systemd-oomd says which cgroup it is about to kill, if there is that directory",
       set_with(config.oomd_hook, absolute_path_of)},
      {"max-overhead", "10.0", false, "for all targets together: see max-overhead of a target",
       set_percent(config.max_overhead, kAllProcessors)},
      {"max-memory", R"("512M")", false, "upper limit for the kernel's tables", set_bytes(config.max_memory_bytes)},
      {"max-blocks", "1000000", false, "maximum number of live blocks of all targets",
       set_count(config.max_blocks, 1, kMaxBlocks)},
      {"max-stacks", "131072", true, "maximum number of different stacks of all targets",
       set_count(config.max_stacks, kMinStacks, kMaxStacks)},
      {"links", R"("process")", false,
       "probes for each process, or for each file (\"file\"), which all processes that map it pay for",
       set_named(config.links, kScopes, link_scope_name)},
  };
}

ConfigKeys target_keys(TargetConfig& target) {
  ProcessQuery& query = target.processes;
  ConfigKeys keys = {
      {"unit", R"("nginx.service")", false,
       "processes of a systemd unit, also a pattern: \"worker@*\"; like the following keys, also several: [...]",
       set_with(query.units, strings_of)},
      {"exe", R"("/opt/app/*")", false, "processes that run a file that matches this pattern",
       set_with(query.executables, path_patterns_of)},
      {"comm", R"("redis-server")", false, "processes with this name, at most 15 characters",
       set_with(query.comms, comms_of)},
      {"name", R"("redis-server")", false, "processes with this name, or whose file has it",
       set_with(query.names, strings_of)},
      {"cgroup", R"("/system.slice")", false, "processes in this cgroup and below it",
       set_with(query.cgroups, strings_of)},
      {"container", R"("3f2a")", false, "processes of a container, by the beginning of its id",
       set_with(query.containers, strings_of)},
      {"pid-file", R"("/run/app.pid")", false, "the process whose number is in this file",
       set_with(target.pid_file, absolute_path_of)},
      {"mode", R"("exact")", true,
       "\"exact\": traced always. \"watch\": traced for a while when its memory calls for it. \"off\"",
       set_named(target.mode, kModes, target_mode_name)},
      {"follow-children", "false", true, "also trace the processes that these start, whatever they are",
       set_with(target.follows_children, flag_of)},
      {"max-processes", "256", true, "trace at most so many at a time",
       set_count(target.max_processes, 1, kMostProcesses)},
      {"max-overhead", "5.0", false,
       "detach, and come back later, if probes cost more than this percentage of one processor",
       set_percent(target.max_overhead, kAllProcessors)},
      {"overhead-retry", R"("1m")", true, "how long to wait then; the time doubles up to 1h while it is in vain",
       set_span(target.overhead_retry, kMinInterval)},
  };
  add_recording_keys(keys, target.recording);
  add_watch_keys(keys, target.watch);
  return keys;
}

ConfigKeys serve_keys(ServingOptions& serve) {
  return {
      {"listen", R"(["127.0.0.1:9817", "unix:/run/hawktrace/hawktrace.sock"])", true,
       "addresses for HTTP; hawktrace status and list ask the second one", set_with(serve.listen, strings_of)},
      {"token-file", R"("/etc/hawktrace/token")", false, "a file with the token that clients must send",
       set_with(serve.token_file, absolute_path_of)},
      {"tls-certificate-file", R"("/etc/hawktrace/server.crt")", false, "certificate, in PEM",
       set_with(serve.tls_certificate_file, absolute_path_of)},
      {"tls-key-file", R"("/etc/hawktrace/server.key")", false, "its key, in PEM",
       set_with(serve.tls_key_file, absolute_path_of)},
      {"allowed-hosts", R"(["heap.example.com"])", false, "names of this machine that requests may have in Host",
       set_with(serve.allowed_hosts, strings_of)},
      {"top-stacks", "0", true, "also export so many stacks of each target to Prometheus",
       set_count(serve.top_stacks, 0, kMaxTopStacks)},
  };
}

ConfigKeys push_keys(PushOptions& push) {
  return {
      {"url", R"("https://pyroscope.example.com")", false, "a Pyroscope server that profiles are sent to",
       set_with(push.url, string_of)},
      {"every", R"("15s")", true, "time between two of them", set_span(push.every, 1s)},
      {"application", R"("hawktrace")", true, "the name under which they are found there",
       set_with(push.application, string_of)},
      {"tenant", R"("team")", false, "the tenant that they belong to", set_with(push.tenant, string_of)},
      {"token-file", R"("/etc/hawktrace/push-token")", false, "a file with the token to send",
       set_with(push.token_file, absolute_path_of)},
      {"ca-file", R"("/etc/ssl/certs/ca-certificates.crt")", false, "certificates to check the server's with, in PEM",
       set_with(push.ca_file, absolute_path_of)},
      {"labels", R"({ host = "web1" })", false, "labels of all profiles", set_with(push.labels, string_table_of)},
  };
}

Result<void> apply_keys(const TomlValue::Table& table, const ConfigKeys& keys, const std::string& file,
                        std::string_view name) {
  for (const TomlEntry& entry : table) {
    const std::string where = fmt::format("{}:{}: {}", file, entry.value.line, entry.key);
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const ConfigKey& k) { return k.name == entry.key; });
    if (key != keys.end()) {
      HAWK_TRY_VOID(key->set(entry.value, where));
      continue;
    }
    std::vector<std::string_view> names;
    for (const ConfigKey& known : keys) names.push_back(known.name);
    const std::string_view nearest = nearest_name(entry.key, names);
    return refuse_value(
        where, fmt::format("there is no such key in [{}]", name),
        nearest.empty() ? "hawktrace config --example prints all keys" : fmt::format("did you mean '{}'?", nearest));
  }
  return {};
}

}  // namespace hawk

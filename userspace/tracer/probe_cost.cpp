/// The probes sit in this very process: a child would pay the same and would have to be forked with all our memory
/// first.
#include "userspace/tracer/probe_cost.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/process_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"
#include "userspace/base/unique_fd.h"
#include "userspace/process/mappings.h"
#include "userspace/tracer/cost_functions.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/trivial_program.h"

namespace hawk {
namespace {

using Function = void (*)();

/// The cheapest batch counts: whatever makes one dearer is not the probe.
constexpr int kBatches = 8;
constexpr int kCallsPerBatch = 25;

std::uint64_t ns_per_call(Function function) {
  for (int i = 0; i < kCallsPerBatch; ++i) function();
  std::chrono::nanoseconds best = std::chrono::nanoseconds::max();
  for (int batch = 0; batch < kBatches; ++batch) {
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < kCallsPerBatch; ++i) function();
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - began);
  }
  return static_cast<std::uint64_t>(best.count() / kCallsPerBatch);
}

/// Where our own functions lie in our own file.
class OwnCode {
 public:
  static Result<OwnCode> make() {
    OwnCode own;
    own.mappings_ = HAWK_TRY(read_mappings(::getpid()));
    return own;
  }

  std::optional<std::uint64_t> offset_of(Function function) const {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(function);
    for (const Mapping& mapping : mappings_) {
      if (address >= mapping.start && address < mapping.end) return address - mapping.start + mapping.file_offset;
    }
    return std::nullopt;
  }

 private:
  std::vector<Mapping> mappings_;
};

/// Every probe of one measurement. Closing a link waits for the kernel's grace periods: so all are closed at once, and,
/// when the costs are known, by another thread.
class Links {
 public:
  Links() = default;
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  ~Links() { destroy_at_once(links_); }

  void add(UniqueFd link) { links_.push_back(std::move(link)); }
  std::jthread close() {
    return try_thread([links = std::move(links_)]() mutable { destroy_at_once(links); });
  }

 private:
  std::vector<UniqueFd> links_;
};

constexpr const char* kOwnFile = "/proc/self/exe";

/// The number that a file of one line holds, behind `prefix`.
Result<std::uint64_t> read_number(const std::string& path, const std::string& prefix) {
  const std::string content = HAWK_TRY(read_whole_file(path, ExitCode::kPrivilege));
  const std::string line = content.substr(0, content.find('\n'));
  if (line.size() <= prefix.size() || !line.starts_with(prefix)) {
    return fail(ExitCode::kPrivilege, fmt::format("read {}: no number in it", path), "mount sysfs on /sys");
  }
  return std::strtoull(line.c_str() + prefix.size(), nullptr, 10);
}

/// A perf-event uprobe by hand: libbpf's takes programs of an object only.
Result<UniqueFd> make_perf_probe(std::uint64_t file_offset, int program, bool on_return) {
  const std::string pmu = "/sys/bus/event_source/devices/uprobe";
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = static_cast<__u32>(HAWK_TRY(read_number(pmu + "/type", "")));
  if (on_return) attributes.config = 1ull << HAWK_TRY(read_number(pmu + "/format/retprobe", "config:"));
  attributes.uprobe_path = reinterpret_cast<__u64>(kOwnFile);
  attributes.probe_offset = file_offset;
  UniqueFd event(
      static_cast<int>(::syscall(SYS_perf_event_open, &attributes, ::getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event || ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) != 0 ||
      ::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
    return system_failure(ExitCode::kPrivilege, "probe a function of hawktrace itself", errno);
  }
  return event;
}

Result<void> attach_perf(const std::array<std::uint64_t, 3>& offsets, int program, Links& links) {
  for (const std::uint64_t offset : offsets) links.add(HAWK_TRY(make_perf_probe(offset, program, false)));
  links.add(HAWK_TRY(make_perf_probe(offsets[2], program, true)));
  return {};
}

/// As tracing attaches: entries that return nothing through multi links, the others through a session or two links.
Result<void> attach_multi(const std::array<std::uint64_t, 3>& offsets, int program, AttachWay way, int session_program,
                          Links& links) {
  MultiLinkSpec spec = {.program_fd = program, .path = kOwnFile, .probes = {}, .pid = 0};
  for (const std::uint64_t offset : std::span(offsets).first(2)) spec.probes.push_back({offset, 0});
  links.add(HAWK_TRY(make_multi_link(spec)));
  spec.probes = {{offsets[2], 0}};
  if (way == AttachWay::kSession) {
    spec.pid = ::getpid();  // the filter works on every kernel that has sessions
    spec.program_fd = session_program;
    spec.attach_type = kAttachTypeUprobeSession;
    links.add(HAWK_TRY(make_multi_link(spec)));
    return {};
  }
  links.add(HAWK_TRY(make_multi_link(spec)));
  spec.on_return = true;
  links.add(HAWK_TRY(make_multi_link(spec)));
  return {};
}

}  // namespace

Result<ProbeCosts> measure_probe_costs(AttachWay way, std::jthread& detaching) {
  const OwnCode own = HAWK_TRY(OwnCode::make());
  std::array<std::uint64_t, 3> offsets = {};
  constexpr std::array<Function, 3> kFunctions = {hawk_pushing_function, hawk_moving_function, hawk_returning_function};
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::optional<std::uint64_t> offset = own.offset_of(kFunctions[i]);
    if (!offset) return fail(ExitCode::kInternal, "measure the cost of a probe: hawktrace's own code is not mapped");
    offsets[i] = *offset;
  }
  const UniqueFd program = load_trivial_program(way == AttachWay::kPerf ? 0 : kAttachTypeUprobeMulti);
  const UniqueFd session = way == AttachWay::kSession ? load_trivial_program(kAttachTypeUprobeSession) : UniqueFd();
  Links links;
  HAWK_TRY_VOID(way == AttachWay::kPerf ? attach_perf(offsets, program.get(), links)
                                        : attach_multi(offsets, program.get(), way, session.get(), links));
  ProbeCosts costs;
  costs.emulated_ns = ns_per_call(kFunctions[0]);
  costs.stepped_ns = ns_per_call(kFunctions[1]);
  const std::uint64_t both_ns = ns_per_call(kFunctions[2]);
  costs.return_ns = both_ns > costs.emulated_ns ? both_ns - costs.emulated_ns : 0;
  detaching = links.close();
  return costs;
}

}  // namespace hawk

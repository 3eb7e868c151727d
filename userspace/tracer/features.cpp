#include "userspace/tracer/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>
#include <sys/utsname.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/kernel_code.h"
#include "userspace/tracer/kernel_preemption.h"
#include "userspace/tracer/libbpf_messages.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/trivial_program.h"
#include "userspace/tracer/uprobe_events.h"

namespace hawk {
namespace {

/// errno of a multi link on the directory "/", which no kernel accepts: EBADF says that the kernel knows the attach
/// type and came as far as looking at the file. The test that libbpf makes (its commit d9f9fd5b).
int link_error(unsigned attach_type, int pid) {
  const UniqueFd program = load_trivial_program(attach_type);
  if (!program) return errno;
  const Result<UniqueFd> link = make_multi_link({.program_fd = program.get(),
                                                 .attach_type = attach_type,
                                                 .path = "/",
                                                 .probes = {{.file_offset = 0, .cookie = 0}},
                                                 .pid = pid});
  return link ? 0 : errno;
}

/// Puts a program on the function that the real ones are meant for.
bool can_be_on_functions(const KernelTypes& types) {
  const std::uint32_t function = types.function("perf_event_mmap");
  if (function == 0) return false;
  const UniqueFd program = load_trivial_function_program(function);
  return program && UniqueFd(bpf_raw_tracepoint_open(nullptr, program.get()));
}

bool can_hold_threads(const KernelTypes& types) {
  utsname kernel = {};
  const bool is_real_time = ::uname(&kernel) != 0 || std::strstr(kernel.version, "PREEMPT_RT") != nullptr;
  // The latter: on 6.18 and 6.19. Later it is in the types alone.
  return !is_real_time && (types.function("bpf_task_work_schedule_resume") != 0 ||
                           types.function("bpf_task_work_schedule_resume_impl") != 0);
}

/// Asked only where the programs can switch preemption off (6.10), and so need to know: before 6.2 the kernel goes
/// through all its names for each that is looked up.
bool preempts_itself(const KernelTypes& types) {
  if (types.function("bpf_preempt_disable") == 0) return true;
  const KernelCodeReader code;
  return kernel_preempts_itself([&code](std::string_view name) { return code.read(name); });
}

}  // namespace

Result<KernelFeatures> probe_kernel_features(const KernelTypes& types) {
  show_libbpf_messages();
  if (!load_trivial_program(0)) {
    return system_failure(ExitCode::kPrivilege, "load a BPF program", errno,
                          "run it with sudo, on a kernel with CONFIG_BPF_SYSCALL and CONFIG_UPROBE_EVENTS");
  }
  KernelFeatures features;
  features.uprobe_multi = link_error(kAttachTypeUprobeMulti, 0) == EBADF;
  features.uprobe_session = features.uprobe_multi && link_error(kAttachTypeUprobeSession, 0) == EBADF;
  // A kernel with the repaired filter refuses a negative pid before it looks at the path.
  features.pid_filter = features.uprobe_multi && link_error(kAttachTypeUprobeMulti, -1) == EINVAL;
  features.programs_on_functions = can_be_on_functions(types);
  features.holds = can_hold_threads(types);
  features.preempts_itself = preempts_itself(types);
  return features;
}

Result<void> require_inheritance(const KernelFeatures& features) {
  // Both came with 6.13. A kernel that was given the one alone says so when the first event is opened.
  if (!features.uprobe_session) return fail(ExitCode::kPrivilege, "that takes Linux 6.13");
  HAWK_TRY_VOID(UprobeEvents::make());
  return {};
}

Result<AttachWay> choose_attach_way(const KernelFeatures& features, std::optional<AttachWay> forced, bool several) {
  if (!forced) {
    if (several && !features.pid_filter) return AttachWay::kPerf;
    if (features.uprobe_session) return AttachWay::kSession;
    return features.uprobe_multi ? AttachWay::kMulti : AttachWay::kPerf;
  }
  const bool available = *forced == AttachWay::kPerf || (*forced == AttachWay::kMulti && features.uprobe_multi) ||
                         (*forced == AttachWay::kSession && features.uprobe_session);
  if (available) return *forced;
  return fail(ExitCode::kPrivilege,
              fmt::format("attach via {}: this kernel does not have it", attach_way_name(*forced)),
              "leave --attach-via out to use the best way that the kernel supports");
}

bool should_follow_plans(AttachWay way, bool is_inherited) { return way != AttachWay::kPerf || is_inherited; }

}  // namespace hawk

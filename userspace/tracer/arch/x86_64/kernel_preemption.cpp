#include "userspace/tracer/kernel_preemption.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace hawk {
namespace {

constexpr std::uint8_t kRet = 0xc3, kJmp = 0xe9;

/// Where a trampoline ends that does nothing on a processor for which the kernel has no plain returns
/// (__static_call_transform in arch/x86/kernel/static_call.c; arch/x86/lib/retpoline.S).
constexpr std::array<std::string_view, 6> kReturnThunks = {"__x86_return_thunk",      "srso_return_thunk",
                                                           "srso_alias_return_thunk", "retbleed_return_thunk",
                                                           "call_depth_return_thunk", "its_return_thunk"};

/// Of the static calls by which a kernel with PREEMPT_DYNAMIC preempts itself: when preemption is enabled again, the
/// same where nothing may be traced, and at the end of an interrupt.
constexpr std::array<std::string_view, 3> kTrampolines = {"__SCT__preempt_schedule", "__SCT__preempt_schedule_notrace",
                                                          "__SCT__irqentry_exit_cond_resched"};

bool is_at(const ReadKernelCode& read, std::string_view name, std::uint64_t address) {
  const std::optional<KernelCode> code = read(name);
  return code && code->address == address;
}

/// Whether the code under this name is known to do nothing.
bool does_nothing(const ReadKernelCode& read, std::string_view name) {
  const std::optional<KernelCode> code = read(name);
  if (!code || code->address == 0) return false;
  if (code->bytes[0] == kRet) return true;
  if (code->bytes[0] != kJmp) return false;
  std::int32_t distance = 0;
  std::memcpy(&distance, &code->bytes[1], sizeof(distance));
  const std::uint64_t target =
      code->address + 1 + sizeof(distance) + static_cast<std::uint64_t>(std::int64_t{distance});
  return std::any_of(kReturnThunks.begin(), kReturnThunks.end(),
                     [&](std::string_view thunk) { return is_at(read, thunk, target); });
}

}  // namespace

bool kernel_preempts_itself(const ReadKernelCode& read) {
  // Every kernel has this one: where it is not found nothing is.
  const std::optional<KernelCode> known = read("schedule");
  const std::optional<KernelCode> preempting = read("preempt_schedule");
  if (!known || known->address == 0 || !preempting) return true;
  // Compiled only into kernels that can (CONFIG_PREEMPTION).
  if (preempting->address == 0) return false;
  return !std::all_of(kTrampolines.begin(), kTrampolines.end(),
                      [&](std::string_view name) { return does_nothing(read, name); });
}

}  // namespace hawk

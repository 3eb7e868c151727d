#pragma once

// What bpf/live/arena.h needs of its world, for threads of this process in place of CPUs.

#include <linux/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "bpf/layout.h"
#include "bpf/live/bucket.h"

#define __arena

struct hawk_arena_header;

namespace hawk::host_arena {

inline hawk_arena_header* header = nullptr;
inline hawk_live_page* pages = nullptr;
inline thread_local __u32 cpu = 0;
/// Here a thread that holds a lock can be preempted for any time.
inline __u32 lock_attempts = ~0U;
/// A stack's number says whose it is: stacks of kProgramStacks numbers each.
inline constexpr __u32 kProgramStacks = 1u << 18;
inline std::atomic<__u32> ended = ~0U;  ///< the program that no longer lives
inline std::mutex spilled_mutex;
inline std::map<__u64, hawk_slot> spilled;  ///< what a step of growth found no room for

}  // namespace hawk::host_arena

inline hawk_arena_header* hawk_header() { return hawk::host_arena::header; }
inline hawk_live_page* hawk_arena_page(__u32 number) { return hawk::host_arena::pages + number; }
inline int hawk_has_arena() { return 1; }
inline __u32 hawk_cpu() { return hawk::host_arena::cpu; }
inline void hawk_preempt_disable() {}
inline void hawk_preempt_enable() {}
inline int hawk_kernel_preempts() { return 1; }
inline int hawk_calls_global() { return 1; }
inline __u64 hawk_count_at(__u64 /*address*/) { return 0; }
#define HAWK_LOCK_ATTEMPTS hawk::host_arena::lock_attempts
inline void hawk_relax() { std::this_thread::yield(); }
inline void hawk_unlock(__u32* lock) {
  auto* byte = reinterpret_cast<__u8*>(lock);
  __atomic_store_n(byte, *byte & HAWK_DISPLACED_MASK, __ATOMIC_RELEASE);
}
inline void hawk_publish(__u64* word, __u64 value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
inline __u32 hawk_program_of_stack(__u32 stack) { return stack / hawk::host_arena::kProgramStacks; }
inline __u32 hawk_program_gone(__u32 program) { return program == hawk::host_arena::ended ? 1 : 0; }
inline int hawk_program_lives(__u32 program) { return hawk_program_gone(program) == 0 ? 1 : 0; }
inline void hawk_spill(__u64 address, const hawk_slot* slot, __u32 /*program*/) {
  const std::lock_guard guard(hawk::host_arena::spilled_mutex);
  hawk::host_arena::spilled[address] = *slot;
}
#define HAWK_REPEAT(count, callback, context)                       \
  do {                                                              \
    for (__u32 repeat_i = 0; repeat_i < (__u32)(count); ++repeat_i) \
      if (callback(repeat_i, context) != 0) break;                  \
  } while (0)

// Written for the kernel's warnings: there, narrowing is said by the type that is assigned to.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include "bpf/live/arena.h"
#pragma GCC diagnostic pop

/// A request by both ways, as programs do it.
inline void hawk_do(hawk_request* request) {
  const hawk_home home = hawk_home_of(request->hash);
  if (!hawk_do_at_once(request, &home)) hawk_do_slowly(request);
}

// The table of hostile targets: a row a target, with the verdict that it must have.
#include <gtest/gtest.h>

#include "tests/hostile/judge.h"

namespace hawk {
namespace {

// One row, one target.
// clang-format off
const HostileTarget kTargets[] = {
    // Memory that answers oddly.
    {.name = "growing_stack"},
    {.name = "garbage_frame_pointers"},
    {.name = "heap_on_userfault"},
    {.name = "many_mappings"},
    {.name = "stack_on_secret_memory", .roads = kAllRoads},
    {.name = "stack_on_userfault", .roads = kAllRoads},
    {.name = "stack_unmapped_after_call"},
    // Files that others choose.
    {.name = "fuse_files", .verdict = Verdict::kNotExact, .cause = "functions_not_probed", .arguments = {"nothing"}},
    {.name = "shrinking_files", .verdict = Verdict::kEither},
    {.name = "fuse_files_answered", .arguments = {"answers"}, .program = "fuse_files", .roads = kAllRoads},
    {.name = "fuse_files_unread", .verdict = Verdict::kNotExact, .cause = "functions_not_probed", .arguments = {"reads"}, .program = "fuse_files"},
    {.name = "giant_sections"},
    {.name = "mapping_storm"},
    {.name = "damaged_files"},
    {.name = "many_sections"},
    {.name = "oddly_named_files"},
    {.name = "sealed_code"},
    {.name = "unlinked_root"},
    // Who else has a hand in the target.
    {.name = "ring_threads"},
    {.name = "wrapped", .environment = {{"LD_PRELOAD", HAWK_HOSTILE_DIR "/libwrapping_library.so"}}, .roads = kAllRoads},
    {.name = "stepped_by_debugger", .roads = kAllRoads},
    {.name = "stopped_by_signal", .arguments = {"signal"}, .program = "stopped"},
    {.name = "stopped_by_freezer", .arguments = {"freezer"}, .program = "stopped"},
    {.name = "stopped_by_debugger", .arguments = {"debugger"}, .program = "stopped"},
    // Calls that do not come back as they went.
    {.name = "throwing_handler", .roads = kAllRoads},
    {.name = "cancelled_in_malloc", .verdict = Verdict::kEither, .varies = true, .roads = kAllRoads},
    {.name = "malloc_in_coroutine", .roads = kAllRoads},
    {.name = "malloc_in_handlers", .roads = kAllRoads},
    {.name = "malloc_in_hooks", .verdict = Verdict::kNotExact, .cause = "hidden_calls", .roads = kAllRoads},
    {.name = "signal_storm", .roads = kAllRoads},
    {.name = "strdup_in_hooks", .roads = kAllRoads},
    // Processes, threads and their ends.
    {.name = "execs_in_thread", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints"},
    {.name = "lifetimes", .from_start = true, .roads = kAllRoads},
    {.name = "thread_churn"},
    {.name = "aborted", .arguments = {"abort", "11"}, .program = "killed", .varies = true},
    {.name = "ended_by_a_thread", .arguments = {"group", "13"}, .program = "killed", .varies = true},
    {.name = "faulted", .arguments = {"fault", "12"}, .program = "killed", .varies = true},
    {.name = "fork_storm"},
    {.name = "killed_early",
     .verdict = Verdict::kEither,
     .arguments = {"kill", "0"},
     .program = "killed",
     .varies = true,
     .roads = kAllRoads},
    {.name = "killed_later",
     .verdict = Verdict::kEither,
     .arguments = {"kill", "4321"},
     .program = "killed",
     .varies = true},
    {.name = "killed_late",
     .verdict = Verdict::kEither,
     .arguments = {"kill", "77777"},
     .program = "killed",
     .varies = true},
    {.name = "many_threads", .roads = kAllRoads},
    {.name = "out_of_memory", .verdict = Verdict::kEither, .varies = true},
    {.name = "reused_number"},
    // Confined.
    {.name = "changed_rights"},
    {.name = "filter_kills", .arguments = {"kill"}, .program = "filtered", .roads = kAllRoads},
    {.name = "filter_refuses", .arguments = {"errno"}, .program = "filtered", .roads = kAllRoads},
    {.name = "filter_asks", .arguments = {"notify"}, .program = "filtered", .roads = kAllRoads},
    {.name = "landlock", .arguments = {"landlock"}, .program = "filtered"},
    {.name = "namespaces"},
    // Code that is not where the kernel put the probes.
    {.name = "shared_code", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .arguments = {"shared", "before"}, .program = "remapped_code"},
    {.name = "code_becomes_shared", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .arguments = {"shared", "later"}, .program = "remapped_code"},
    {.name = "code_becomes_anonymous", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .arguments = {"anonymous", "later"}, .program = "remapped_code"},
    {.name = "anonymous_code",
     .verdict = Verdict::kNotExact,
     .cause = "missing_breakpoints",
     .arguments = {"anonymous", "before"},
     .program = "remapped_code"},
    {.name = "unmapped_libc", .verdict = Verdict::kEither},
    // Odd allocators, odd requests.
    {.name = "racing_frees"},
    {.name = "two_libcs"},
    {.name = "address_given_twice", .verdict = Verdict::kNotExact, .cause = "live_overwritten"},
    {.name = "failing_calls", .roads = kAllRoads},
    {.name = "layered_allocator", .roads = kAllRoads},
    {.name = "tolerant_allocator"},
    {.name = "helped_wrapper", .verdict = Verdict::kNotExact, .cause = "counted_twice", .program = "wrapped", .environment = {{"LD_PRELOAD", HAWK_HOSTILE_DIR "/libhelped_library.so"}}, .roads = kAllRoads},
    {.name = "checked", .program = "wrapped", .environment = {{"LD_PRELOAD", "libc_malloc_debug.so.0"}, {"GLIBC_TUNABLES", "glibc.malloc.check=3"}}, .roads = kAllRoads},
    {.name = "same_names", .roads = kAllRoads},
    // By points a block is counted before it is stored where others can free it.
    {.name = "memalign_race"},
    {.name = "memalign_race_by_returns", .verdict = Verdict::kNotExact, .cause = "early_frees", .program = "memalign_race", .roads = kReturnRoads},
    {.name = "moved_code", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .arguments = {"moved"}, .has_own_libc = true},
    {.name = "dropped_code", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .arguments = {"dropped"}, .program = "moved_code", .has_own_libc = true},
    {.name = "collapsed_code", .arguments = {"collapsed"}, .program = "moved_code"},
    {.name = "execute_only_code", .arguments = {"execute_only"}, .program = "moved_code"},
    {.name = "execs_and_drops", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .has_own_libc = true, .roads = kAllRoads},
    {.name = "execs_and_drops_from_start", .verdict = Verdict::kNotExact, .cause = "missing_breakpoints", .program = "execs_and_drops", .has_own_libc = true, .from_start = true, .roads = kAllRoads},
    {.name = "many_allocators"},
    {.name = "many_functions", .verdict = Verdict::kNotExact, .cause = "functions_not_probed", .roads = kAllRoads},
};
// clang-format on

class HostileTest : public testing::Test {
 public:
  HostileTest(const HostileTarget& target, Road road) : target_(target), road_(road) {}
  void TestBody() override { judge(target_, road_); }

 private:
  const HostileTarget& target_;
  Road road_;
};

const int kRegistered = [] {
  for (const HostileTarget& target : kTargets) {
    for (const Road road : target.roads) {
      testing::RegisterTest("hostile", (target.name + "/" + road_name(road)).c_str(), nullptr, nullptr, __FILE__,
                            __LINE__, [&target, road]() -> testing::Test* { return new HostileTest(target, road); });
    }
  }
  return 0;
}();

}  // namespace
}  // namespace hawk

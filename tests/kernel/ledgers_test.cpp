// The ledgers that need no script of their own: attach, let the program run, compare everything.
#include <filesystem>
#include <span>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

namespace hawk {
namespace {

constexpr const char* kJemalloc = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
constexpr const char* kMimalloc = "/usr/lib/x86_64-linux-gnu/libmimalloc.so.2";
constexpr const char* kTcmalloc = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4";

struct LedgerCase {
  const char* suite;
  const char* name;
  const char* program;                    ///< in tests/kernel/ledgers
  std::vector<std::string> options = {};  ///< for hawktrace
  std::string preload = {};
  std::span<const Way> ways = kTableWays;
};

/// Frame pointers alone do not tell whose a free is.
constexpr Way kWaysWithTables[] = {Way::kPointsArena, Way::kSessionArena, Way::kMultiArena, Way::kPerfHash};

const LedgerCase kCases[] = {
    {"functions", "all", "every_function"},
    {"functions", "cfree", "cfree"},
    {"functions", "free_sized", "free_sized"},
    {"functions", "fixed_addresses", "functions_at_fixed_addresses"},
    {"functions", "static_executable", "functions_linked_statically"},
    {"functions", "without_frame_pointers", "functions_without_frames"},
    {"operators", "without_frame_pointers", "operators_without_frames"},
    {"functions", "frees_of_older_blocks", "older_blocks"},
    {"functions", "jemalloc", "portable_functions", {}, kJemalloc},
    // Its functions move their arguments before the first instruction that the kernel emulates.
    {"functions", "mimalloc", "portable_functions", {}, kMimalloc},
    {"functions", "tcmalloc", "portable_functions", {}, kTcmalloc},
    {"functions", "jemalloc_own", "jemalloc_functions", {}, kJemalloc},
    {"functions", "jemalloc_arena_reset", "jemalloc_arena_reset", {}, kJemalloc},
    {"functions", "mimalloc_own", "mimalloc_functions", {}, kMimalloc},
    {"functions", "mimalloc_unfollowed", "mimalloc_unfollowed", {}, kMimalloc},
    {"functions", "tcmalloc_own", "tcmalloc_functions", {}, kTcmalloc},
    {"functions", "jemalloc_prefixed", "jemalloc_rjem"},
    {"functions", "jemalloc_prefixed_otherwise", "jemalloc_jemalloc", {}, {}, kPointsWays},
    {"functions", "of_recent_allocators", "recent_functions"},
    {"functions", "that_begin_again", "looping_functions"},
    {"functions", "with_hidden_ways", "hidden_ways"},
    {"functions", "ifunc", "ifunc"},
    {"functions", "ifunc_by_table", "ifunc_by_table"},
    {"functions", "made_by_one_function", "made_by_one_function"},
    {"functions", "made_by_one_function_in_threads", "made_by_one_function_in_threads"},
    {"functions", "of_an_odd_allocator", "odd_allocator_calls"},
    {"operators", "libstdcxx", "operators"},
    {"operators", "jemalloc", "operators", {}, kJemalloc},
    {"operators", "mimalloc", "operators", {}, kMimalloc},
    {"operators", "tcmalloc", "operators", {}, kTcmalloc},
    {"operators", "of_a_library", "operators_of_library"},
    {"operators", "of_a_preloaded_library", "operators", {}, HAWK_LEDGER_DIR "/libown_operators.so"},
    {"operators", "of_the_program", "operators_of_program"},
    {"operators", "not_exported", "operators_not_exported"},
    {"bad_alloc", "libstdcxx", "bad_alloc"},
    {"bad_alloc", "jemalloc", "bad_alloc", {}, kJemalloc},
    {"bad_alloc", "tcmalloc", "bad_alloc", {}, kTcmalloc},
    {"realloc", "in_place", "realloc_in_place"},
    {"realloc", "moves", "realloc_moves"},
    {"realloc", "shrinks", "realloc_shrinks"},
    {"realloc", "fails", "realloc_fails"},
    {"realloc", "of_null", "realloc_null"},
    {"realloc", "to_zero", "realloc_zero"},
    {"calloc", "overflows", "calloc_overflow"},
    {"posix_memalign", "einval", "posix_memalign_einval"},
    {"posix_memalign", "null_for_nothing", "null_for_nothing"},
    {"bad_alloc", "in_coroutines", "thrown_in_coroutines", {}, {}, kWaysWithTables},
    {"mmap_threshold", "counted_once", "mmap_threshold"},
    {"threads", "arenas", "threads_arenas"},
    {"threads", "address_handover", "address_handover"},
    {"threads", "main_thread_exited", "main_thread_exits"},
    {"threads", "die_inside_a_call", "dying_threads"},
    {"longjmp", "out_of_a_call", "longjmp_out"},
    {"longjmp", "over_a_hole", "longjmp_over_hole"},
    {"hooks", "malloc_in_malloc", "hooks_malloc_malloc"},
    {"hooks", "new_in_malloc", "hooks_malloc__Znwm"},
    {"hooks", "malloc_in_new", "hooks__Znwm_malloc"},
    {"hooks", "new_in_new", "hooks__Znwm__Znwm"},
    {"hooks", "left_by_longjmp", "leaving_hooks"},
    {"hooks", "left_by_longjmp_may_throw", "leaving_hooks_may_throw"},
    {"hooks", "tcmalloc", "new_hook", {}, kTcmalloc},
    {"hooks", "frees_of_unknown_blocks", "whose_frees", {}, {}, kWaysWithTables},
    {"memory", "secret", "secret_memory"},
    {"live_table", "full", "live_table_full", {"--max-blocks", "1000"}, {}, kHashWays},
    {"live_table", "strange_addresses", "strange_addresses"},
    {"live_table", "four_gibibytes", "huge_blocks"},
    {"live_table", "overwritten_wherever_it_is", "overwritten_blocks"},
    {"live_table", "grows_and_shrinks", "grow_and_shrink", {"--interval", "100ms"}},
    {"threads", "addresses_change_hands", "address_reuse"},
    {"min_block", "smaller_ones_left_alone", "small_blocks", {"--min-block", "4k"}},
    {"processes", "forked_children", "fork_children"},
    {"processes", "strict_seccomp", "seccomp_strict"},
};

void run_case(const LedgerCase& ledger_case, Way way) {
  LedgerProgram::Setup setup{.program = ledger_case.program};
  if (!ledger_case.preload.empty()) {
    // The dynamic linker only warns of a file that is not there, and the test would be one of libc.
    ASSERT_TRUE(std::filesystem::exists(ledger_case.preload)) << ledger_case.preload;
    setup.environment["LD_PRELOAD"] = ledger_case.preload;
  }
  LedgerProgram program(setup);
  Trace trace = Trace::attach(program.pid(), way, ledger_case.options);
  const Ledger ledger = program.run();
  expect_equal(trace.finish(), ledger);
  program.close_input();
  EXPECT_EQ(program.wait(), 0) << "the target lives on";
}

const int kRegistered = [] {
  for (const LedgerCase& ledger_case : kCases) {
    register_kernel_test(
        ledger_case.suite, ledger_case.name, [&ledger_case](Way way) { run_case(ledger_case, way); }, ledger_case.ways);
  }
  return 0;
}();

}  // namespace
}  // namespace hawk

// The kernel's walk against libdw's on the same registers, stacks and files, at random allocations of real programs. It
// is that of a thread which has walked all stacks before, and also has to be that of a new one.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>

#include "tests/unwinding/comparison.h"
#include "tests/unwinding/dumped_program.h"

namespace hawk {
namespace {

constexpr double kEnoughPercent = 99.9;

struct Program {
  const char* name;
  long every;              ///< allocations from one dump to the next; some thousand stacks come of it
  std::size_t min_stacks;  ///< fewer: the work has not been done, or not been dumped
};

void compare_stacks_of(const Program& program) {
  const auto start = std::chrono::steady_clock::now();
  const DumpedProgram dumped = dump_workload(program.name, choice_of(program.every));
  ASSERT_EQ(dumped.status, 0) << dumped.output;
  const auto ran = std::chrono::steady_clock::now();
  for (const DumpFile& image : dumped.images) EXPECT_FALSE(image.damaged());
  const Comparison result = compare(dumped.images);
  const std::chrono::duration<double> running = ran - start, comparing = std::chrono::steady_clock::now() - ran;
  std::printf("%s  %zu images, run in %.1f s, compared in %.1f s\n", result.text(program.name).c_str(),
              dumped.images.size(), running.count(), comparing.count());

  EXPECT_GE(result.stacks, program.min_stacks);
  EXPECT_GE(result.equal_percent(), kEnoughPercent);
  EXPECT_GE(result.complete_percent(), kEnoughPercent);
  EXPECT_GT(result.known_steps, result.frames / 10) << "stacks are not alike enough for known steps to be proved";
  EXPECT_TRUE(result.unknown.empty()) << "every difference needs an entry in allowed_differences.cpp, with its cause";
}

TEST(differential, python3) { compare_stacks_of({"python3", 50, 600}); }
TEST(differential, sqlite3) { compare_stacks_of({"sqlite3", 100, 800}); }
TEST(differential, git) { compare_stacks_of({"git", 40, 600}); }
TEST(differential, postgres) { compare_stacks_of({"postgres", 80, 600}); }
TEST(differential, nginx) { compare_stacks_of({"nginx", 5, 500}); }
TEST(differential, gdb) { compare_stacks_of({"gdb", 200, 600}); }
TEST(differential, clang) { compare_stacks_of({"clang", 1500, 800}); }

}  // namespace
}  // namespace hawk

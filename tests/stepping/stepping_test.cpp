/// The claims of YieldPlan, checked by execution: every call of every allocator function is stepped through, and must
/// be seen once, with its size and its block.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "tests/stepping/plan_text.h"
#include "tests/stepping/stepped_program.h"
#include "tests/support/scratch_directory.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

struct Target {
  std::string name;
  std::string program;
  std::string file;  ///< with the allocator
  bool is_preloaded = false;
  std::string variable = "A=B";
  std::size_t least_plans = 1;  ///< functions that must have a plan
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

class Stepping : public ::testing::TestWithParam<Target> {};

/// More can be asked for by hand.
int calls() {
  const char* wanted = std::getenv("HAWK_STEPPED_CALLS");
  return wanted == nullptr ? 80 : std::atoi(wanted);
}

/// A copy of its own: other tests trace the same libraries at the same time, and the kernel may put their breakpoints
/// and return probes into this process too, where a step over one is two.
std::string copied(const std::string& file, const ScratchDirectory& directory) {
  const std::filesystem::path copy = directory.path(std::filesystem::path(file).filename());
  std::filesystem::copy_file(file, copy);
  return std::filesystem::canonical(copy);
}

TEST_P(Stepping, EveryCallIsSeenOnce) {
  const ScratchDirectory directory;
  const bool is_static = GetParam().file == GetParam().program;
  const std::string file = is_static ? GetParam().file : copied(GetParam().file, directory);
  const Result<ElfImage> image = ElfImage::make(UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), file);
  ASSERT_TRUE(image);
  const AllocatorFile allocator = find_allocator_functions(*image, Plans::kMade);
  std::size_t plans = 0;
  for (const AllocatorFunction& function : allocator.functions) plans += function.yields.points.empty() ? 0 : 1;
  EXPECT_GE(plans, GetParam().least_plans);
  std::vector<std::string> environment = {GetParam().variable, "LD_LIBRARY_PATH=" + directory.path()};
  if (GetParam().is_preloaded) environment.push_back("LD_PRELOAD=" + file);
  const testing::Stepped shown =
      testing::step_through({GetParam().program, std::to_string(calls())}, environment, file, allocator);
  EXPECT_TRUE(shown.has_ended);
  EXPECT_GT(shown.calls, 400u);
  EXPECT_GT(shown.failed_calls, 5u);
  for (const std::string& wrong : shown.wrong) ADD_FAILURE() << wrong;
  std::string text;
  for (const auto& [where, times] : shown.seen) text += where + ": " + std::to_string(times) + "\n";
  RecordProperty("steps", static_cast<int>(shown.steps));
  if (HasFailure() || std::getenv("HAWK_SHOW_STEPS") != nullptr) {
    for (const AllocatorFunction& function : allocator.functions) text += testing::plan_text(function);
    printf("%zu calls, %zu failed, %zu steps\n%s", shown.calls, shown.failed_calls, shown.steps, text.c_str());
  }
}

const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";

INSTANTIATE_TEST_SUITE_P(
    Allocators, Stepping,
    ::testing::Values(
        Target{.name = "glibc", .program = HAWK_CALLS, .file = kLibraries + "libc.so.6", .least_plans = 8},
        Target{.name = "glibc_one_arena",
               .program = HAWK_CALLS,
               .file = kLibraries + "libc.so.6",
               .variable = "MALLOC_ARENA_MAX=1"},
        Target{.name = "glibc_no_thread_cache",
               .program = HAWK_CALLS,
               .file = kLibraries + "libc.so.6",
               .variable = "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"},
        Target{.name = "glibc_static", .program = HAWK_CALLS_STATIC, .file = HAWK_CALLS_STATIC, .least_plans = 4},
        Target{
            .name = "jemalloc", .program = HAWK_CALLS, .file = kLibraries + "libjemalloc.so.2", .is_preloaded = true},
        Target{.name = "tcmalloc_minimal",
               .program = HAWK_CALLS,
               .file = kLibraries + "libtcmalloc_minimal.so.4",
               .is_preloaded = true},
        Target{
            .name = "tcmalloc", .program = HAWK_CALLS, .file = kLibraries + "libtcmalloc.so.4", .is_preloaded = true},
        Target{.name = "mimalloc",
               .program = HAWK_CALLS,
               .file = kLibraries + "libmimalloc.so.2.0",
               .is_preloaded = true}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace hawk

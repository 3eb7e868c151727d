/// For people: the test's proof for files that no package of this machine has.
///
///   step_calls FILE [VARIABLE=VALUE...] COMMAND...
///
/// FILE should be a copy that no other process maps: other tracers' breakpoints in it are met by the stepped process
/// too. Runs a command that leads to a program built from calls.c, such as another loader with it, and steps through
/// all calls of the allocator in FILE.
#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/stepping/plan_text.h"
#include "tests/stepping/stepped_program.h"
#include "userspace/code/allocator_functions.h"

int main(int argc, char** argv) {
  char file[PATH_MAX];
  if (argc < 3 || ::realpath(argv[1], file) == nullptr) return 2;
  const hawk::Result<hawk::ElfImage> image =
      hawk::ElfImage::make(hawk::UniqueFd(::open(file, O_RDONLY | O_CLOEXEC)), file);
  if (!image) {
    fmt::print(stderr, "{}\n", image.error().what);
    return 1;
  }
  std::vector<std::string> command(argv + 2, argv + argc), environment;
  while (!command.empty() && command[0].find('=') != std::string::npos) {
    environment.push_back(command[0]);
    command.erase(command.begin());
  }
  const hawk::AllocatorFile allocator = hawk::find_allocator_functions(*image, hawk::Plans::kMade);
  const hawk::testing::Stepped shown = hawk::testing::step_through(command, environment, file, allocator);
  const auto has_plan = [](const hawk::AllocatorFunction& function) { return !function.yields.points.empty(); };
  for (const auto& [where, times] : shown.seen) fmt::print("  {} at {}\n", times, where);
  for (const std::string& wrong : shown.wrong) fmt::print("WRONG {}\n", wrong);
  fmt::print("{}: {} functions with points, {} calls, {} of them failed, {} steps, {} wrong{}\n", file,
             std::count_if(allocator.functions.begin(), allocator.functions.end(), has_plan), shown.calls,
             shown.failed_calls, shown.steps, shown.wrong.size(), shown.has_ended ? "" : ", NOT TO THE END");
  return shown.has_ended && shown.wrong.empty() ? 0 : 1;
}

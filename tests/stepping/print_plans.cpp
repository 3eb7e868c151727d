#include <fcntl.h>
#include <fmt/core.h>

#include <chrono>

#include "tests/stepping/plan_text.h"
#include "userspace/code/allocator_functions.h"

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const hawk::Result<hawk::ElfImage> image =
        hawk::ElfImage::make(hawk::UniqueFd(::open(argv[i], O_RDONLY | O_CLOEXEC)), argv[i]);
    if (!image) {
      fmt::print(stderr, "{}\n", image.error().what);
      return 1;
    }
    const auto began = std::chrono::steady_clock::now();
    const hawk::AllocatorFile file = hawk::find_allocator_functions(*image, hawk::Plans::kMade);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    fmt::print("== {} ({:.1f} ms)\n", argv[i], took.count());
    for (const hawk::AllocatorFunction& function : file.functions) {
      if (function.kind == HAWK_CALL_FREE) {
        fmt::print("{}: at {:#x}\n", function.names.front(), function.probe_offset);
      } else {
        fmt::print("{}", hawk::testing::plan_text(function));
      }
    }
    for (const hawk::UnprobedFunction& function : file.unprobed) {
      fmt::print("{}: not probed: {}\n", function.name, function.reason);
    }
  }
  return 0;
}

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/kernel/harness/trace.h"

namespace hawk {

/// Registers `body` as the three tests `<suite>.<name>/session`, `/multi` and `/perf`. Returns 0.
int register_kernel_test(const std::string& suite, const std::string& name, std::function<void(Way)> body);

}  // namespace hawk

/// A test that runs once for each way to attach, which its body sees as `way`.
#define KERNEL_TEST(suite, name)                                                                              \
  static void suite##_##name(::hawk::Way way);                                                                \
  static const int registered_##suite##_##name = ::hawk::register_kernel_test(#suite, #name, suite##_##name); \
  static void suite##_##name([[maybe_unused]] ::hawk::Way way)

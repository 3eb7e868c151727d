#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "tests/kernel/harness/trace.h"

namespace hawk {

/// Registers `body` as the tests `<suite>.<name>/session_hash` and so on, one for each of `ways`. Returns 0.
int register_kernel_test(const std::string& suite, const std::string& name, std::function<void(Way)> body,
                         std::span<const Way> ways = kWays);

}  // namespace hawk

/// A test that runs once for each of `ways`, which its body sees as `way`.
#define KERNEL_TEST_ON(suite, name, ways)                                                                           \
  static void suite##_##name(::hawk::Way way);                                                                      \
  static const int registered_##suite##_##name = ::hawk::register_kernel_test(#suite, #name, suite##_##name, ways); \
  static void suite##_##name([[maybe_unused]] ::hawk::Way way)
/// With every way to attach but points, which change nothing there.
#define KERNEL_TEST(suite, name) KERNEL_TEST_ON(suite, name, ::hawk::kWays)
/// The same, and by points inside functions.
#define KERNEL_TEST_OF_CALLS(suite, name) KERNEL_TEST_ON(suite, name, ::hawk::kCallWays)
/// With every way to attach and, but for perf events, both live tables.
#define KERNEL_TEST_OF_COUNTS(suite, name) KERNEL_TEST_ON(suite, name, ::hawk::kTableWays)

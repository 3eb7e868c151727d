#include "userspace/code/start_context.h"

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <ucontext.h>

#include <cstring>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

/// What makecontext puts where the context's function returns to.
std::uintptr_t return_address_of_a_context() {
  alignas(16) static char stack[64 * 1024];
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = sizeof(stack);
  context.uc_link = nullptr;
  makecontext(
      &context, [] {}, 0);
  std::uintptr_t address = 0;
  std::memcpy(&address, reinterpret_cast<const void*>(context.uc_mcontext.gregs[REG_RSP]), sizeof(address));
  return address;
}

TEST(ContextStart, IsWhereContextsReturnTo) {
  Dl_info libc;
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&gnu_get_libc_version), &libc), 0);
  const std::optional<std::uint64_t> start = find_start_context(testing::open_image(libc.dli_fname));
  ASSERT_TRUE(start.has_value());
  EXPECT_EQ(*start, return_address_of_a_context() - reinterpret_cast<std::uintptr_t>(libc.dli_fbase));
}

TEST(ContextStart, IsNotInOtherFiles) {
  EXPECT_FALSE(find_start_context(testing::open_image("/proc/self/exe")).has_value());
}

}  // namespace
}  // namespace hawk

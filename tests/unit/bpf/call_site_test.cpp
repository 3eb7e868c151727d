#include "bpf/arch/x86_64/call_site.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using Window = std::array<__u8, HAWK_CALL_SITE_BYTES>;

/// The bytes around an address that `before` ends at and `after` begins at; nop elsewhere.
Window window(const std::vector<__u8>& before, const std::vector<__u8>& after = {}) {
  Window bytes;
  bytes.fill(0x90);
  std::copy(before.begin(), before.end(), bytes.begin() + HAWK_CALL_SITE_BEFORE - static_cast<long>(before.size()));
  std::copy(after.begin(), after.end(), bytes.begin() + HAWK_CALL_SITE_BEFORE);
  return bytes;
}

bool accepted(const std::vector<__u8>& before, const std::vector<__u8>& after = {}) {
  return hawk_is_return_address(window(before, after).data()) != 0;
}

// What `as` makes of each form, checked with objdump.
TEST(CallSite, AcceptsEveryFormOfCall) {
  const std::vector<std::vector<__u8>> calls = {
      {0xe8, 0x01, 0x02, 0x03, 0x04},                    // call rel32
      {0xff, 0xd0},                                      // call *%rax
      {0x41, 0xff, 0xd4},                                // call *%r12
      {0xff, 0x10},                                      // call *(%rax)
      {0xff, 0x53, 0x18},                                // call *0x18(%rbx)
      {0xff, 0x90, 0x00, 0x01, 0x00, 0x00},              // call *0x100(%rax)
      {0xff, 0x15, 0x01, 0x02, 0x03, 0x04},              // call *disp32(%rip)
      {0xff, 0x14, 0x24},                                // call *(%rsp)
      {0xff, 0x54, 0x24, 0x08},                          // call *0x8(%rsp)
      {0xff, 0x94, 0xc7, 0x00, 0x02, 0x00, 0x00},        // call *0x200(%rdi,%rax,8)
      {0xff, 0x14, 0xc5, 0x00, 0x10, 0x40, 0x00},        // call *0x401000(,%rax,8)
      {0x41, 0xff, 0x14, 0xc4},                          // call *(%r12,%rax,8)
      {0x64, 0xff, 0x14, 0x25, 0x10, 0x00, 0x00, 0x00},  // call *%fs:0x10
      {0x3e, 0xff, 0xd0},                                // notrack call *%rax
  };
  for (const std::vector<__u8>& call : calls) EXPECT_TRUE(accepted(call)) << "form of " << call.size() << " bytes";
}

TEST(CallSite, AcceptsSignalRestorers) {
  EXPECT_TRUE(accepted({}, {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}));  // glibc
  EXPECT_TRUE(accepted({}, {0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05}));              // musl
  EXPECT_FALSE(accepted({}, {0x48, 0xc7, 0xc0, 0x0e, 0x00, 0x00, 0x00, 0x0f, 0x05}));
}

TEST(CallSite, RejectsWhatIsNoCall) {
  EXPECT_FALSE(accepted({0xe9, 0x01, 0x02, 0x03, 0x04}));  // jmp
  EXPECT_FALSE(accepted({0xff, 0xe0}));                    // jmp *%rax
  EXPECT_FALSE(accepted({0xff, 0x15, 0x01, 0x02, 0x03}));  // one byte short
  EXPECT_FALSE(accepted({0xff, 0xd0, 0x90}));              // one byte late
  EXPECT_FALSE(accepted({}));
  const Window zeros = {};
  EXPECT_FALSE(hawk_is_return_address(zeros.data()));
}

}  // namespace

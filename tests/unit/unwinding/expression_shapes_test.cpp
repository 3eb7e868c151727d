#include "userspace/unwinding/expression_shapes.h"

#include <gtest/gtest.h>

#include "tests/unit/unwinding/frame_bytes.h"

namespace hawk {
namespace {

using testing::Bytes;
using testing::joined;
using testing::rule_after;
using testing::sleb;
using testing::uleb;
using testing::with_block;

std::string cfa(const Bytes& expression) { return rule_after(with_block({0x0f}, expression)); }

/// breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
const Bytes kPlt = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

TEST(ExpressionShapes, RegisterAndOffset) {
  EXPECT_EQ(cfa(joined({{0x77}, sleb(4096)})), "cfa=rsp+4096 rbp=same");
  EXPECT_EQ(cfa({0x92, 6, 16}), "cfa=rbp+16 rbp=same");
  EXPECT_EQ(cfa({0x73, 16}), "unsupported") << "rbx";
}

TEST(ExpressionShapes, FramesThatGccRealigns) {
  EXPECT_EQ(cfa({0x76, 0x78, 0x06}), "cfa=*(rbp-8)+0 rbp=same");
  EXPECT_EQ(cfa(joined({{0x76}, sleb(-200), {0x06}})), "cfa=*(rbp-200)+0 rbp=same");
  EXPECT_EQ(rule_after(joined({with_block({0x0f}, {0x76, 0x70, 0x06}), with_block({0x10, 6}, {0x76, 0})})),
            "cfa=*(rbp-16)+0 rbp=*(rbp+0)");
}

TEST(ExpressionShapes, ACfaOnTheStack) {
  EXPECT_EQ(cfa({0x77, 40, 0x06}), "cfa=*(rsp+40)+0 rbp=same");
  EXPECT_EQ(cfa({0x77, 40, 0x06, 0x23, 8}), "cfa=*(rsp+40)+8 rbp=same");
  EXPECT_EQ(cfa(joined({{0x77, 40, 0x06, 0x23}, uleb(1ull << 63)})), "unsupported");
}

TEST(ExpressionShapes, StubsOfThePlt) {
  EXPECT_EQ(cfa(kPlt), "cfa=plt(rsp+8,11) rbp=same");
  Bytes other = kPlt;
  other[6] = 0x3a;
  EXPECT_EQ(cfa(other), "cfa=plt(rsp+8,10) rbp=same");
  other[6] = 0x30;
  EXPECT_EQ(cfa(other), "cfa=plt(rsp+8,0) rbp=same");
}

TEST(ExpressionShapes, AnythingElseIsUnsupported) {
  for (std::size_t i = 0; i < kPlt.size(); ++i) {
    if (i == 1) continue;  // the offset may be any
    Bytes changed = kPlt;
    changed[i] = i == 6 ? 0x40 : static_cast<std::uint8_t>(changed[i] ^ 0x40);
    EXPECT_EQ(cfa(changed), "unsupported") << i;
  }
  for (std::size_t bytes = 0; bytes < kPlt.size(); ++bytes) {
    if (bytes == 2) continue;  // rsp + 8
    EXPECT_EQ(cfa(Bytes(kPlt.begin(), kPlt.begin() + static_cast<std::ptrdiff_t>(bytes))), "unsupported") << bytes;
  }
  EXPECT_EQ(cfa(joined({kPlt, {0x96}})), "unsupported");
  EXPECT_EQ(cfa({0x76, 0x78, 0x06, 0x06}), "unsupported");
  EXPECT_EQ(cfa({0x76, 0x78, 0x06, 0x23}), "unsupported");
  EXPECT_EQ(cfa({0x76, 0x78, 0x06, 0x23, 8, 0x06}), "unsupported");
  EXPECT_EQ(cfa({0x03, 0, 0, 0, 0, 0, 0, 0, 0}), "unsupported") << "an address";
  EXPECT_EQ(cfa({0x76}), "unsupported");
  EXPECT_EQ(cfa({0x76, 0x80}), "unsupported");
}

}  // namespace
}  // namespace hawk

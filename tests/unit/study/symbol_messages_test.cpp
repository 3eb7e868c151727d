#include "userspace/study/symbol_messages.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "userspace/study/wire.h"

namespace hawk {
namespace {

const std::vector<FramesAt> kFound = {{0x1234, {{"f(int)", "/a/b.cpp", 12, true}, {"main", "", 0, false}}},
                                      {0x5678, {}}};

TEST(SymbolMessages, FramesSurviveTheWay) {
  std::vector<FramesAt> read;
  ASSERT_TRUE(from_body(to_body(kFound), read));
  ASSERT_EQ(read.size(), kFound.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].module_offset, kFound[i].module_offset);
    EXPECT_EQ(read[i].frames, kFound[i].frames);
  }
}

TEST(SymbolMessages, TheOthersSurviveTheWay) {
  ModuleHead head;
  ASSERT_TRUE(from_body(to_body(ModuleHead{7, "/lib/x.so", "/proc/1/root", true}), head));
  EXPECT_EQ(head.module, 7U);
  EXPECT_EQ(head.path, "/lib/x.so");
  EXPECT_EQ(head.root, "/proc/1/root");
  EXPECT_TRUE(head.is_vdso);
  ModuleState state;
  ASSERT_TRUE(from_body(to_body(ModuleState{SymbolSource::kSymtab, "why"}), state));
  EXPECT_EQ(state.source, SymbolSource::kSymtab);
  EXPECT_EQ(state.gap, "why");
  const std::vector<std::uint64_t> offsets = {1, ~std::uint64_t{0}};
  FramesQuestion question;
  ASSERT_TRUE(from_body(to_body(9, offsets), question));
  EXPECT_EQ(question.module, 9U);
  EXPECT_EQ(question.module_offsets, offsets);
  FileWanted wanted;
  ASSERT_TRUE(from_body(to_body(FileWanted{"", "/usr/lib/debug/x"}), wanted));
  EXPECT_EQ(wanted.path, "/usr/lib/debug/x");
}

TEST(SymbolMessages, WhatIsCutMakesNoSense) {
  const std::string whole = to_body(kFound);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    std::vector<FramesAt> read;
    EXPECT_FALSE(from_body(whole.substr(0, bytes), read)) << bytes;
  }
  std::vector<FramesAt> read;
  EXPECT_FALSE(from_body(whole + "x", read));
}

TEST(SymbolMessages, CountsAreBelievedAsFarAsBytesGo) {
  WireWriter writer;
  writer.number(std::uint64_t{1} << 60);
  std::vector<FramesAt> read;
  EXPECT_FALSE(from_body(writer.bytes(), read));
  EXPECT_TRUE(read.empty());
  WireWriter text;
  text.text("root");
  text.number(~std::uint64_t{0});
  FileWanted wanted;
  EXPECT_FALSE(from_body(text.bytes(), wanted));
}

TEST(SymbolMessages, EveryDamagedByteIsSurvived) {
  const std::string whole = to_body(kFound);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      std::vector<FramesAt> read;
      from_body(damaged, read);
      EXPECT_LE(read.size(), whole.size());
    }
  }
}

}  // namespace
}  // namespace hawk

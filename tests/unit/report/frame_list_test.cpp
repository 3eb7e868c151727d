#include "userspace/report/frame_list.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/function_numbers.h"

namespace hawk {
namespace {

std::vector<ListedFrame> numbered(std::vector<ListedFrame> frames) {
  FunctionNumbers numbers;
  for (ListedFrame& frame : frames) frame.function_number = numbers.number_of(frame.location, frame.source.function);
  return frames;
}

std::vector<ListedFrame> named(const std::vector<std::string>& names) {
  std::vector<ListedFrame> frames;
  for (const std::string& name : names) frames.push_back({{}, function(name), name, sample_role_of(name)});
  return numbered(frames);
}

FrameList list_of(const std::vector<ListedFrame>& frames) {
  FrameList list;
  for (const ListedFrame& frame : frames) list.push_back(&frame);
  return list;
}

/// "a b×3 [2 folded] c [9 more]"
std::string summary(const std::vector<ShownFrame>& shown) {
  static constexpr const char* kWhy[] = {" folded]", " more]", " repeated]"};
  std::string text;
  for (const ShownFrame& line : shown) {
    if (!text.empty()) text += " ";
    if (line.frame != nullptr) {
      text += line.frame->source.function.empty() ? "?" : line.frame->source.function;
      if (line.times > 1) text += "×" + std::to_string(line.times);
    } else {
      text += "[" + std::to_string(line.left_out_count) + kWhy[static_cast<int>(line.why)];
      if (line.lines != 0) text += std::to_string(line.lines) + "×" + std::to_string(line.times);
    }
  }
  return text;
}

std::string folded(const std::vector<std::string>& names, std::size_t max_frames = 0) {
  const std::vector<ListedFrame> frames = named(names);
  return summary(fold_frames(list_of(frames), max_frames));
}

TEST(FrameList, InnermostFoldableGoesLaterRunsAreCounted) {
  EXPECT_EQ(folded({"operator new", "std::a", "work", "std::b", "std::c", "main"}), "work [2 folded] main");
  EXPECT_EQ(folded({"work", "main"}), "work main");
  EXPECT_EQ(folded({"work", "std::run", "std::start"}), "work [2 folded]");
  EXPECT_EQ(folded({"a", "std::x", "b", "std::y", "c"}), "a [1 folded] b [1 folded] c");
}

TEST(FrameList, AllFoldableIsShownWhole) {
  EXPECT_EQ(folded({"operator new", "std::a", "std::b"}), "operator new std::a std::b");
  EXPECT_EQ(folded({}), "");
}

TEST(FrameList, LongStacksKeepBothEnds) {
  EXPECT_EQ(folded({"1", "2", "3", "4", "5", "6", "7", "8"}, 4), "1 2 [4 more] 7 8");
  EXPECT_EQ(folded({"1", "2", "3", "std::a", "std::b", "6", "7", "8"}, 4), "1 2 [4 more] 7 8")
      << "folded frames inside count as frames";
  EXPECT_EQ(folded({"1", "2", "3", "4", "5"}, 4), "1 2 3 4 5") << "one line is not worth a line that says so";
  EXPECT_EQ(folded({"1", "2", "3"}, 1), "1 [2 more]");
}

TEST(FrameList, RecursionIsCounted) {
  EXPECT_EQ(folded({"leaf", "walk", "walk", "walk", "walk", "main"}), "leaf walk×4 main");
  EXPECT_EQ(folded({"walk", "walk", "main"}), "walk×2 main");
  EXPECT_EQ(folded({"f", "std::x", "std::x", "std::x", "std::y"}), "f [4 folded]");
  EXPECT_EQ(folded({"f", "f", "f", "std::x", "f", "f", "f"}), "f×3 [1 folded] f×3");
  EXPECT_EQ(folded({"1", "2", "f", "f", "f", "6", "7", "8"}, 4), "1 2 [4 more] 7 8") << "each call counts";
  std::vector<ListedFrame> lines = named({"walk", "walk", "walk", ""});
  lines[1].source.line = 7;
  lines.push_back(lines.back());
  lines.push_back(lines.back());
  lines.back().location.address = 1;
  lines = numbered(lines);
  EXPECT_EQ(summary(fold_frames(list_of(lines), 0)), "walk×3 ?×2 ?") << "the function counts, not the line in it";
}

TEST(FrameList, FunctionsThatCallEachOtherInTurnStandOnce) {
  EXPECT_EQ(folded({"leaf", "a", "b", "a", "b", "a", "b", "main"}), "leaf a b [4 repeated]2×3 main");
  EXPECT_EQ(folded({"a", "b", "c", "a", "b", "c"}), "a b c [3 repeated]3×2");
  EXPECT_EQ(folded({"a", "b", "a", "b"}), "a b a b") << "no line would be saved";
  EXPECT_EQ(folded({"a", "b", "a", "b", "a", "b", "a"}), "a b [4 repeated]2×3 a") << "half a round stays";
  EXPECT_EQ(folded({"a", "f", "f", "a", "f", "f", "a", "f", "f"}), "a f×2 [6 repeated]2×3") << "each call counts";
  EXPECT_EQ(folded({"a", "f", "f", "a", "f", "a", "f", "f"}), "a f×2 a f a f×2") << "rounds that differ stay";
  EXPECT_EQ(folded({"a", "std::x", "b", "a", "std::x", "b"}), "a [1 folded] b [3 repeated]3×2");
  EXPECT_EQ(folded({"a", "b", "a", "c", "a", "b", "a", "c", "z"}), "a b a c [4 repeated]4×2 z");
  EXPECT_EQ(left_out_text(fold_frames(list_of(named({"a", "b", "c", "a", "b", "c"})), 0).back()),
            "… the 3 lines above ×2");
}

TEST(FrameList, OfALongStackNoLineIsKeptThatRefersToOnesLeftOut) {
  std::vector<std::string> names = {"1", "2", "3", "4", "5"};
  for (int round = 0; round < 9; ++round) names.insert(names.end(), {"a", "b", "c"});
  names.insert(names.end(), {"y", "z"});
  EXPECT_EQ(folded(names), "1 2 3 4 5 a b c [24 repeated]3×9 y z");
  EXPECT_EQ(folded(names, 8), "1 2 3 4 [28 more] y z") << "of the last four lines two are about the lines before";
  EXPECT_EQ(folded({"1", "a", "b", "a", "b", "a", "b", "y", "z"}, 4), "1 a [5 more] y z");
}

TEST(FrameList, ALongStackOfOtherCallsIsNotChanged) {
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back("f" + std::to_string(i % 1999));
  EXPECT_EQ(fold_frames(list_of(named(names)), 0).size(), 2000U);
}

TEST(FrameList, TheFirstFunctionThatIsNotFoldableDecides) {
  const std::vector<ListedFrame> frames = named({"operator new", "std::a", "work", "main"});
  EXPECT_EQ(deciding_frame(list_of(frames)), 2U);
  const std::vector<ListedFrame> all_foldable = named({"operator new", "std::a"});
  EXPECT_EQ(deciding_frame(list_of(all_foldable)), 0U);
}

TEST(FrameList, AStackOfANamelessFunctionIsNamedWithItsCaller) {
  std::vector<ListedFrame> frames = named({"operator new", "", "std::a", "serve(int)", "main"});
  frames[1].name = "libfoo.so+0x12";
  frames[3].name = "serve";
  EXPECT_EQ(stack_label(list_of(frames)), "libfoo.so+0x12 < serve");
  frames.resize(3);
  EXPECT_EQ(stack_label(list_of(frames)), "libfoo.so+0x12");
  const std::vector<ListedFrame> named_ones = named({"std::a", "work", "main"});
  EXPECT_EQ(stack_label(list_of(named_ones)), "work");
  EXPECT_EQ(stack_label({}), "");
}

TEST(FrameList, WhatTheAllocatorCallsIsPartOfIt) {
  EXPECT_EQ(folded({"grow_arena", "", "xmalloc", "std::make", "work", "main"}), "work main");
  EXPECT_EQ(folded({"grow_arena", "xmalloc"}), "grow_arena xmalloc") << "nothing decides, so that all is shown";
  EXPECT_EQ(folded({"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "xmalloc", "main"}),
            "1 2 3 4 5 6 7 8 9 10 [1 folded] main")
      << "something else that the allocator called out for";
}

TEST(FrameList, WhatHasNoLineIsHidden) {
  for (const std::vector<std::string>& names : std::vector<std::vector<std::string>>{
           {"operator new", "std::a", "work", "work", "std::b", "std::c", "work", "main"},
           {"operator new", "std::a", "std::a"},
           {"grow_arena", "xmalloc", "work", "std::x", "main"},
           {"f", "f", "std::x", "f", "f", "g"},
           {"a", "b", "a", "b", "b", "a", "b", "a", "b", "a", "b", "a", "b", "std::x", "main"},
           {}}) {
    const std::vector<ListedFrame> frames = named(names);
    const FrameList list = list_of(frames);
    const std::vector<bool> hidden = hidden_frames(list);
    std::vector<const ListedFrame*> visible;
    for (std::size_t index = 0; index < list.size(); ++index) {
      if (!hidden[index]) visible.push_back(list[index]);
    }
    std::vector<const ListedFrame*> shown;
    for (const ShownFrame& line : fold_frames(list, 0)) {
      if (line.frame != nullptr) shown.push_back(line.frame);
    }
    EXPECT_EQ(visible, shown);
  }
}

TEST(FrameList, NamesFallBackToModuleThenAddress) {
  Snapshot snapshot;
  snapshot.modules.push_back({"/usr/lib/libfoo.so", ""});
  const Location location{0x7f0012345678, ModuleId{0}, 0x1234};
  EXPECT_EQ(frame_name(location, function("f()"), snapshot), "f()");
  EXPECT_EQ(frame_name(location, {}, snapshot), "libfoo.so+0x1234");
  EXPECT_EQ(module_position(location, snapshot, true), "/usr/lib/libfoo.so+0x1234");
  EXPECT_EQ(frame_name({0x7f0012345678, std::nullopt, 0}, {}, snapshot), "0x7f0012345678");
  EXPECT_EQ(frame_name({0x10, ModuleId{5}, 0}, {}, snapshot), "0x10") << "a module that the snapshot lacks";
}

TEST(FrameList, SourcePlacesKeepTheLastComponents) {
  EXPECT_EQ(source_position(function("f", "/build/shop/src/session.cpp", 58), 2), "src/session.cpp:58");
  EXPECT_EQ(source_position(function("f", "/build/shop/src/session.cpp", 58), 1), "session.cpp:58");
  EXPECT_EQ(source_position(function("f", "/build/shop/src/session.cpp", 58), 0), "/build/shop/src/session.cpp:58");
  EXPECT_EQ(source_position(function("f", "session.cpp", 58), 2), "session.cpp:58");
  EXPECT_EQ(source_position(function("f", "/session.cpp", 0), 2), "/session.cpp");
  EXPECT_EQ(source_position(function("f", "", 58), 2), "");
  EXPECT_EQ(file_name("[vdso]"), "[vdso]");
}

}  // namespace
}  // namespace hawk

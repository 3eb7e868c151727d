// Both unwinders against a third, libgcc's, which a program runs on its own stack just before it allocates.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "bpf/unwind/ends.h"
#include "tests/unwinding/comparison.h"
#include "tests/unwinding/dumped_program.h"

namespace hawk {
namespace {

using Frames = std::vector<std::uint64_t>;

/// Without the innermost: where in its function that is depends on the call.
Frames callers(Frames frames) {
  if (!frames.empty()) frames.erase(frames.begin());
  for (std::uint64_t& frame : frames) frame &= ~HAWK_FRAME_INTERRUPTED;
  return frames;
}

std::vector<Frames> stacks_in(const std::string& output) {
  std::vector<Frames> stacks;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Frames frames;
    for (std::uint64_t address = 0; words >> std::hex >> address;) frames.push_back(address);
    stacks.push_back(callers(frames));
  }
  return stacks;
}

TEST(differential, own_stacks_as_libgcc_finds_them) {
  const DumpedProgram program =
      dump_program({"/bin/sh", "-c", "LD_PRELOAD=$HAWK_DUMP_LIBRARY exec " HAWK_OWN_STACKS_PATH}, {.every = 1});
  ASSERT_EQ(program.status, 0) << program.output;
  std::set<Frames> ours, theirs;
  std::size_t different = 0, signals = 0, realigned = 0;
  Unwinders unwinders;
  for (const DumpFile& image : program.images) {
    for (const StackDump& dump : image.dumps()) {
      unwinders.turn_to(dump);
      const HostWalk walk = unwinders.ours(dump);
      const UnwoundStack stack = unwinders.theirs(dump);
      different += walk.frames != stack.frames || !is_same_stack(walk, unwinders.ours_afresh(dump));
      if (is_complete(walk)) ours.insert(callers(walk.frames));
      if (stack.is_complete) theirs.insert(callers(stack.frames));
      signals += walk.rules[HAWK_RULE_SIGNAL];
      realigned += walk.rules[HAWK_RULE_LOADED];
    }
  }
  const std::vector<Frames> expected = stacks_in(program.output);
  ASSERT_EQ(expected.size(), 5u) << program.output;
  for (const Frames& frames : expected) {
    EXPECT_TRUE(ours.contains(frames)) << "stack of " << frames.size() << " frames\n" << program.output;
    EXPECT_TRUE(theirs.contains(frames)) << "stack of " << frames.size() << " frames\n" << program.output;
  }
  EXPECT_EQ(different, 0u);
  EXPECT_GT(signals, 0u);
  EXPECT_GT(realigned, 0u);
}

}  // namespace
}  // namespace hawk

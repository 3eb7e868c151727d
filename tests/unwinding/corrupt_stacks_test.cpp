// The kernel's walk over stacks that are not what they were. It has to end, and what it calls complete has to be a
// chain of frames that is really there: libdw finds the same one, with a proper end, in the same memory. What the
// thread knows from sound stacks at the same addresses, and from damaged ones, changes nothing.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "bpf/unwind/ends.h"
#include "tests/unwinding/comparison.h"
#include "tests/unwinding/corruption.h"
#include "tests/unwinding/dumped_program.h"

namespace hawk {
namespace {

constexpr std::size_t kDamagesOfADump = 60;

/// What came of all damaged stacks of a program.
struct Tally {
  std::size_t stacks = 0, complete = 0, other_and_complete = 0, guessed = 0, in_padding = 0;
  std::map<std::string_view, std::size_t> ends;
  std::map<std::string, std::size_t> wrong;
};

bool is_prefix(const std::vector<std::uint64_t>& some, const std::vector<std::uint64_t>& others) {
  return common_frames(some, others) == some.size();
}

/// One of the two lists is where the other begins.
bool agree(const std::vector<std::uint64_t>& some, const std::vector<std::uint64_t>& others) {
  return common_frames(some, others) == std::min(some.size(), others.size());
}

/// By rules only.
void judge(const HostWalk& walk, const UnwoundStack& libdw, std::size_t max_depth, Tally& tally) {
  if (walk.frames.size() > max_depth) ++tally.wrong["more frames than were asked for"];
  if (walk.is_guessed) ++tally.wrong["guessed, which was not asked for"];
  if (walk.hash != hash_of(walk)) ++tally.wrong["another hash than that of its frames"];
  if (!agree(walk.frames, libdw.frames))
    ++tally.wrong[fmt::format("other frames than libdw's, before {}, {}", end_name(walk.end), libdw.end)];
  // Our tables give padding the rule of the function before it: no call returns there, and rows are fewer by a fifth.
  if (libdw.ends_in_padding && walk.frames.size() > libdw.frames.size()) {
    ++tally.in_padding;
    return;
  }
  const bool is_complete_there = libdw.is_complete || libdw.ends_at_entry;  // see allowed_differences.cpp
  if (is_complete(walk) && !is_complete_there) ++tally.wrong["complete, and not for libdw: " + libdw.end];
  if (is_complete(walk) && walk.frames != libdw.frames) ++tally.wrong["complete, with other frames than libdw's"];
}

/// With guesses where there are no rules.
void judge_guess(const HostWalk& guess, const HostWalk& walk, std::size_t max_depth, Tally& tally) {
  if (guess.frames.size() > max_depth) ++tally.wrong["more frames than were asked for, with guesses"];
  if (!is_prefix(walk.frames, guess.frames)) ++tally.wrong["other frames with guesses, where rules are"];
  if (guess.is_guessed && is_complete(guess)) ++tally.wrong["complete with guesses"];
  if (!guess.is_guessed && (guess.frames != walk.frames || guess.end != walk.end))
    ++tally.wrong["nothing guessed, and another stack"];
}

void try_damaged(const DamagedDump& damaged, const HostWalk& undamaged, std::uint32_t max_depth, Unwinders& unwinders,
                 Tally& tally) {
  const HostWalk walk = unwinders.ours(damaged.dump, HAWK_UNWIND_CFI, max_depth);
  const HostWalk guess = unwinders.ours(damaged.dump, HAWK_UNWIND_AUTO, max_depth);
  ++tally.stacks;
  ++tally.ends[end_name(walk.end)];
  tally.complete += is_complete(walk);
  tally.other_and_complete += is_complete(walk) && walk.frames != undamaged.frames;
  tally.guessed += guess.is_guessed;
  if (!is_same_stack(walk, unwinders.ours_afresh(damaged.dump, HAWK_UNWIND_CFI, max_depth)))
    ++tally.wrong["another stack than a new thread's"];
  if (!is_same_stack(guess, unwinders.ours_afresh(damaged.dump, HAWK_UNWIND_AUTO, max_depth)))
    ++tally.wrong["another stack than a new thread's, with guesses"];
  judge(walk, unwinders.theirs(damaged.dump, max_depth), max_depth, tally);
  judge_guess(guess, walk, max_depth, tally);
}

void damage_stacks_of(const char* program, long every) {
  const DumpChoice choice = choice_of(every);
  const DumpedProgram dumped = dump_workload(program, choice);
  ASSERT_EQ(dumped.status, 0) << dumped.output;
  Corruption corruption(choice.seed);
  Unwinders unwinders;
  Tally tally;
  for (const DumpFile& image : dumped.images) {
    for (const StackDump& dump : image.dumps()) {
      unwinders.turn_to(dump);
      const HostWalk undamaged = unwinders.ours(dump);
      for (std::size_t i = 0; i < kDamagesOfADump; ++i) {
        const std::uint64_t max_depth =
            corruption.below(4) != 0 ? HAWK_MAX_FRAMES : 1 + corruption.below(HAWK_MAX_FRAMES);
        try_damaged(corruption.damage(dump, undamaged, unwinders.tables()), undamaged,
                    static_cast<std::uint32_t>(max_depth), unwinders, tally);
        if (!is_same_stack(unwinders.ours(dump), undamaged))
          ++tally.wrong["another sound stack than before the damage"];
      }
    }
  }
  std::printf("%s: %zu damaged stacks, %zu complete all the same, %zu of them with other frames\n", program,
              tally.stacks, tally.complete, tally.other_and_complete);
  std::printf("  %zu guessed, %zu through padding\n", tally.guessed, tally.in_padding);
  for (const auto& [end, count] : tally.ends) std::printf("  %zu %s\n", count, std::string(end).c_str());
  for (const auto& [what, count] : tally.wrong) ADD_FAILURE() << count << " times: " << what;
  EXPECT_GE(tally.stacks, 10'000u);
  EXPECT_LE(tally.in_padding, tally.stacks / 40);
  EXPECT_GT(tally.ends.size(), 5u) << "the damage should end walks in many ways";
}

TEST(corrupt_stacks, of_postgres) { damage_stacks_of("postgres", 400); }
TEST(corrupt_stacks, of_sqlite3) { damage_stacks_of("sqlite3", 600); }

}  // namespace
}  // namespace hawk

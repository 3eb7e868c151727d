// Each kind of step that bpf/unwind/unwind.h takes, and each end of a walk, on stacks made by hand: by a thread that
// has walked there before, and by a new one.
#include <gtest/gtest.h>

#include <utility>

#include "bpf/unwind/ends.h"
#include "tests/unit/bpf/walk_world.h"

namespace hawk {
namespace {

constexpr std::uint64_t kLowest = kStack + 8, kFrame = 64, kNowhere = 0x1234567;

enum : Function { kSmall, kOutermost, kFramed, kSignal, kSpecial };

/// The fifth function has `special`.
World world_with(const hawk_rule& special) {
  return World({plain(HAWK_BASE_SP, kFrame), of_kind(HAWK_RULE_END), plain(HAWK_BASE_FP, 16, HAWK_FP_AT_CFA, -16),
                of_kind(HAWK_RULE_SIGNAL), special});
}

void expect_walks(World& world, const HostRegisters& registers, const std::vector<std::uint64_t>& frames, hawk_end end,
                  bool is_guessed = false) {
  for (const hawk_unwind mode : {HAWK_UNWIND_CFI, HAWK_UNWIND_AUTO}) {
    if (is_guessed && mode == HAWK_UNWIND_CFI) continue;
    for (const HostWalk& walk :
         {world.walk_afresh(registers, HAWK_MAX_FRAMES, mode), world.walk(registers, HAWK_MAX_FRAMES, mode),
          world.walk(registers, HAWK_MAX_FRAMES, mode), world.walk(registers, HAWK_MAX_FRAMES, mode)}) {
      EXPECT_EQ(walk.frames, frames);
      EXPECT_EQ(walk.end, end);
      EXPECT_EQ(walk.is_guessed, is_guessed);
      EXPECT_EQ(walk.hash, hash_of(walk));
    }
  }
}

HostRegisters at(std::uint64_t pc, std::uint64_t fp = 0) { return {.pc = pc, .sp = kLowest, .fp = fp}; }

hawk_rule special(hawk_rule_kind kind, hawk_rule rule, std::int32_t load_offset) {
  rule.kind = static_cast<__u8>(kind);
  rule.load_offset = load_offset;
  return rule;
}

/// What the kernel leaves for a handler to return to.
void put_signal_frame(World& world, std::uint64_t where, const HostRegisters& interrupted) {
  world.word(where + 40 + 10 * 8) = interrupted.fp;
  world.word(where + 40 + 15 * 8) = interrupted.sp;
  world.word(where + 40 + 16 * 8) = interrupted.pc;
}

// A call that never returns may be the last instruction of its function.
TEST(Unwind, TakesTheRuleOfTheByteBeforeAReturnAddress) {
  World world = world_with(plain(HAWK_BASE_SP, 2 * kFrame));
  const std::uint64_t end_of_special = kCode + (kSpecial + 1) * kFunctionBytes,
                      end_of_small = kCode + (kSmall + 1) * kFunctionBytes;
  world.word(kLowest + 2 * kFrame - 8) = end_of_small;
  world.word(kLowest + 3 * kFrame - 8) = in(kOutermost);
  expect_walks(world, at(end_of_special), {end_of_special, end_of_small, in(kOutermost)}, HAWK_END_OUTERMOST);
}

TEST(Unwind, TakesTheRuleOfAnInterruptedInstructionItself) {
  World world = world_with(plain(HAWK_BASE_SP, 8));
  const std::uint64_t first = kCode + kSpecial * kFunctionBytes, sp = kLowest + 8 * kFrame;
  put_signal_frame(world, kLowest, {.pc = first, .sp = sp, .fp = 0});
  world.word(sp) = in(kOutermost);
  expect_walks(world, at(in(kSignal)), {in(kSignal), first | HAWK_FRAME_INTERRUPTED, in(kOutermost)},
               HAWK_END_OUTERMOST);
}

// To whatever stack that was on: here one below.
TEST(Unwind, FindsAllRegistersInASignalFrame) {
  World world = world_with(plain(HAWK_BASE_SP, 8));
  const std::uint64_t handler = kLowest + 10 * kFrame, sp = kLowest + kFrame, cfa = kLowest + 5 * kFrame;
  put_signal_frame(world, handler, {.pc = in(kSmall), .sp = sp, .fp = cfa - 16});
  world.word(sp + kFrame - 8) = in(kFramed);
  world.word(cfa - 8) = in(kOutermost);
  const HostRegisters registers{.pc = in(kSignal), .sp = handler, .fp = 1};
  expect_walks(world, registers, {in(kSignal), in(kSmall) | HAWK_FRAME_INTERRUPTED, in(kFramed), in(kOutermost)},
               HAWK_END_OUTERMOST);
}

// From the push in a stub on there is a word more.
TEST(Unwind, CountsWhatAStubHasPushed) {
  World world = world_with(special(HAWK_RULE_PLT, plain(HAWK_BASE_SP, 16), 11));
  const std::uint64_t sp = kLowest + 8 * kFrame;
  world.word(sp + 8) = in(kOutermost);
  world.word(sp + 16) = in(kOutermost) + 1;
  const std::uint64_t stub = kCode + kSpecial * kFunctionBytes + 16;
  for (std::uint64_t offset = 0; offset < 16; ++offset) {
    put_signal_frame(world, kLowest, {.pc = stub + offset, .sp = sp, .fp = 0});
    expect_walks(world, at(in(kSignal)),
                 {in(kSignal), (stub + offset) | HAWK_FRAME_INTERRUPTED, in(kOutermost) + (offset >= 11)},
                 HAWK_END_OUTERMOST);
  }
  world.word(kLowest + 8) = in(kOutermost);
  world.word(kLowest + 16) = in(kOutermost) + 1;
  expect_walks(world, at(stub + 10), {stub + 10, in(kOutermost)}, HAWK_END_OUTERMOST);
  expect_walks(world, at(stub + 11), {stub + 11, in(kOutermost) + 1}, HAWK_END_OUTERMOST);
}

TEST(Unwind, LoadsTheCfaOfRealignedFrames) {
  World world = world_with(special(HAWK_RULE_LOADED, plain(HAWK_BASE_FP, 24, HAWK_FP_AT_FP, 0), -8));
  const std::uint64_t fp = kLowest + 3 * kFrame, loaded = kLowest + 6 * kFrame, callers = kLowest + 9 * kFrame;
  world.word(fp - 8) = loaded;
  world.word(fp) = callers - 16;
  world.word(loaded + 24 - 8) = in(kFramed);
  world.word(callers - 8) = in(kOutermost);
  expect_walks(world, at(in(kSpecial), fp), {in(kSpecial), in(kFramed), in(kOutermost)}, HAWK_END_OUTERMOST);
}

TEST(Unwind, FindsRbpWhereverItIsStored) {
  const std::uint64_t kept = kLowest + 9 * kFrame - 16, at_sp = kept + kFrame, at_fp = kept + 2 * kFrame,
                      at_cfa = kept + 3 * kFrame;
  for (const auto& [rule, stored] : {std::pair{plain(HAWK_BASE_SP, kFrame), kept},
                                     {plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_SP, 24), at_sp},
                                     {plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_FP, -24), at_fp},
                                     {plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_CFA, -24), at_cfa}}) {
    World world = world_with(rule);
    world.word(kLowest + 24) = at_sp;
    world.word(kept - 24) = at_fp;
    world.word(kLowest + kFrame - 24) = at_cfa;
    world.word(kLowest + kFrame - 8) = in(kFramed);
    for (std::uint64_t i = 0; i < 4; ++i) world.word(kept + i * kFrame + 8) = in(kOutermost) + i;
    expect_walks(world, at(in(kSpecial), kept), {in(kSpecial), in(kFramed), in(kOutermost) + (stored - kept) / kFrame},
                 HAWK_END_OUTERMOST);
  }
}

// A frame that takes rbp for its CFA cannot be left when that is nowhere; others can.
TEST(Unwind, ReliesOnNoRbpThatIsLost) {
  World world = world_with(plain(HAWK_BASE_SP, kFrame, HAWK_FP_LOST));
  const std::uint64_t fp = kLowest + 3 * kFrame;
  world.word(fp + 8) = in(kOutermost);
  world.word(kLowest + kFrame - 8) = in(kFramed);
  expect_walks(world, at(in(kSpecial), fp), {in(kSpecial), in(kFramed)}, HAWK_END_NO_PROGRESS);
  world.word(kLowest + kFrame - 8) = in(kSmall);
  world.word(kLowest + 2 * kFrame - 8) = in(kOutermost);
  expect_walks(world, at(in(kSpecial), fp), {in(kSpecial), in(kSmall), in(kOutermost)}, HAWK_END_OUTERMOST);
}

// Not even where the stack is so low that an offset from 0 reaches it.
TEST(Unwind, ReliesOnNoRbpThatIsLostBelowTwoGigabytes) {
  constexpr std::uint64_t kLow = 0x10000;
  World world({plain(HAWK_BASE_SP, kFrame, HAWK_FP_LOST), of_kind(HAWK_RULE_END),
               plain(HAWK_BASE_FP, kLow + 8 + 2 * kFrame, HAWK_FP_AT_CFA, -16)},
              kLow);
  world.word(kLow + 8 + kFrame - 8) = in(kFramed);
  world.word(kLow + 8 + 2 * kFrame - 8) = in(kOutermost);
  expect_walks(world, {.pc = in(kSmall), .sp = kLow + 8, .fp = 0}, {in(kSmall), in(kFramed)}, HAWK_END_NO_PROGRESS);
}

TEST(Unwind, GoesOutwardsOnly) {
  for (const std::int32_t offset : {0, -8, -64, 12, INT32_MIN, INT32_MAX}) {
    for (const hawk_rule_base base : {HAWK_BASE_SP, HAWK_BASE_FP}) {
      World world = world_with(special(HAWK_RULE_PLAIN, plain(base, offset), 0));
      world.word(kLowest - 8) = in(kOutermost);
      const bool is_odd = offset % 8 != 0;
      expect_walks(world, at(in(kSpecial), kLowest), {in(kSpecial)},
                   is_odd                ? HAWK_END_UNSUPPORTED
                   : offset == INT32_MAX ? HAWK_END_UNREADABLE
                                         : HAWK_END_NO_PROGRESS);
    }
  }
  World world = world_with(plain(HAWK_BASE_SP, 8));
  for (const std::uint64_t fp : {kLowest - 16, kLowest - kFrame, kLowest + 1, std::uint64_t{0}, ~std::uint64_t{0}})
    expect_walks(world, at(in(kFramed), fp), {in(kFramed)}, HAWK_END_NO_PROGRESS);
}

TEST(Unwind, EndsWhereTheStackCannotBeRead) {
  World world = world_with(plain(HAWK_BASE_SP, kFrame, HAWK_FP_AT_CFA, -16 * 1024 * 1024));
  world.word(kLowest + kFrame - 8) = in(kOutermost);
  expect_walks(world, at(in(kSpecial)), {in(kSpecial)}, HAWK_END_UNREADABLE);
  for (const Function function : {kSmall, kSignal}) {
    const HostRegisters outside{.pc = in(function), .sp = kStack - 4 * kFrame, .fp = 0};
    expect_walks(world, outside, {in(function)}, HAWK_END_UNREADABLE);
  }
  world.word(kLowest + kFrame - 8) = 0;
  expect_walks(world, at(in(kSmall)), {in(kSmall)}, HAWK_END_NULL_RETURN);
}

TEST(Unwind, EndsWithWhatTheRuleSays) {
  for (const auto& [kind, end] : {std::pair{HAWK_RULE_UNSUPPORTED, HAWK_END_UNSUPPORTED},
                                  {HAWK_RULE_CHANGING, HAWK_END_CHANGING},
                                  {HAWK_RULE_END, HAWK_END_OUTERMOST}}) {
    World world = world_with(of_kind(kind));
    // With care, and at once.
    expect_walks(world, at(in(kSpecial)), {in(kSpecial)}, end);
    expect_walks(world, at(in(kSpecial) + 1), {in(kSpecial) + 1}, end);
  }
}

// There --unwind cfi ends, and auto continues along the frame pointer.
TEST(Unwind, GuessesWhereThereIsNoRuleIfItMay) {
  for (const auto& [kind, end] : {std::pair{HAWK_RULE_NO_CODE, HAWK_END_NO_CODE},
                                  {HAWK_RULE_NO_TABLE, HAWK_END_NO_TABLE},
                                  {HAWK_RULE_GAP, HAWK_END_GAP}}) {
    World world = world_with(of_kind(kind));
    const std::uint64_t cfa = kLowest + 4 * kFrame;
    world.word(cfa - 8) = in(kOutermost);
    for (const std::uint64_t pc : {in(kSpecial), in(kSpecial) + 1, kNowhere}) {
      const HostRegisters registers = at(pc, cfa - 16);
      const HostWalk walk = world.learn(registers);
      EXPECT_EQ(walk.frames, std::vector{pc});
      EXPECT_EQ(walk.end, pc == kNowhere ? HAWK_END_NO_CODE : end);
      EXPECT_FALSE(walk.is_guessed);
      expect_walks(world, registers, {pc, in(kOutermost)}, HAWK_END_OUTERMOST, true);
      expect_walks(world, at(pc, kLowest - 8), {pc}, HAWK_END_NO_PROGRESS, true);
      // What the walk before has guessed is no guess of this one.
      expect_walks(world, at(in(kOutermost)), {in(kOutermost)}, HAWK_END_OUTERMOST);
    }
  }
}

// A guess at which a step begins that lies below: of the base, not of the CFA alone.
TEST(Unwind, GuessesNothingBelowTheStackPointer) {
  World world = world_with(of_kind(HAWK_RULE_GAP));
  const std::uint64_t sp = kLowest + kFrame;
  world.word(sp - 8 + 8) = in(kOutermost);
  const HostRegisters registers{.pc = in(kSpecial), .sp = sp, .fp = sp - 8};
  expect_walks(world, registers, {in(kSpecial)}, HAWK_END_NO_PROGRESS, true);
}

TEST(Unwind, PutsBackTheReturnAddressThatAProbeHasReplaced) {
  constexpr std::uint64_t kTrampoline = 0x7fffffffe000;
  World world = world_with(plain(HAWK_BASE_SP, 8));
  world.replace_return(kLowest + kFrame - 8, in(kSmall), kTrampoline);
  world.word(kLowest + 2 * kFrame - 8) = in(kOutermost);
  expect_walks(world, at(in(kSmall) + 1), {in(kSmall) + 1, in(kSmall), in(kOutermost)}, HAWK_END_OUTERMOST);
  // The first byte of the next function is not where it returns to.
  const std::uint64_t end_of_small = kCode + (kSmall + 1) * kFunctionBytes;
  world.replace_return(kLowest + kFrame - 8, end_of_small, kTrampoline);
  expect_walks(world, at(in(kSmall) + 1), {in(kSmall) + 1, end_of_small, in(kOutermost)}, HAWK_END_OUTERMOST);
  // A signal came before the probe did.
  put_signal_frame(world, kLowest + 16 * kFrame, {.pc = kTrampoline, .sp = kLowest + kFrame, .fp = 0});
  const HostRegisters handler{.pc = in(kSignal), .sp = kLowest + 16 * kFrame, .fp = 0};
  expect_walks(world, handler, {in(kSignal), end_of_small, in(kOutermost)}, HAWK_END_OUTERMOST);
  // Nothing is known of one that lies there by chance.
  world.word(kLowest + 2 * kFrame - 8) = kTrampoline;
  expect_walks(world, at(in(kSmall) + 1), {in(kSmall) + 1, end_of_small, kTrampoline}, HAWK_END_NO_CODE);
}

// Then nothing can be found out about the address of the trampoline, but what it replaces is known all the same.
TEST(Unwind, PutsBackAReplacedReturnAddressWhileMappingsAreBeingChanged) {
  World world = world_with(of_kind(HAWK_RULE_CHANGING));
  world.replace_return(kLowest + kFrame - 8, in(kSmall), in(kSpecial));
  world.word(kLowest + 2 * kFrame - 8) = in(kOutermost);
  expect_walks(world, at(in(kSmall) + 1), {in(kSmall) + 1, in(kSmall), in(kOutermost)}, HAWK_END_OUTERMOST);
  world.word(kLowest + 2 * kFrame - 8) = in(kSpecial);
  expect_walks(world, at(in(kSmall) + 1), {in(kSmall) + 1, in(kSmall), in(kSpecial)}, HAWK_END_CHANGING);
}

}  // namespace
}  // namespace hawk

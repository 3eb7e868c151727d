// Cached rules while mappings change: whatever is interrupted at whichever instruction, a rule that was taken from
// other code is never used.

#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <random>

#include "tests/unit/tracer/code_ranges_world.h"
#include "tests/unit/tracer/interrupted.h"

namespace hawk {
namespace {

/// Some threads of a process and user space, by turns. At random, and the same for the same seed.
class Turns {
 public:
  using Tell = std::function<void()>;
  Turns(unsigned seed, Tell tell) : random_(seed), tell_(std::move(tell)) {}

  /// Three slots whose code is known; rules of two of them are cached.
  void prepare() {
    go_on();
    for (std::size_t slot = 0; slot < kSlotsUsed; ++slot) map(slot, 1 + random_() % 1000);
    tell();
    for (std::size_t slot = 0; slot < 2; ++slot) walk(slot);
  }

  /// Any thread does something. Code at the slot `spared` is not replaced.
  void take(std::size_t spared) {
    const std::size_t slot = random_() % kSlotsUsed;
    switch (random_() % 7) {
      case 0:
        tell();
        break;
      case 1:
      case 2:
        if (slot != spared && slot != under_way_) map(slot, random_() % 6 == 0 ? 0 : 1 + random_() % 1000);
        break;
      case 3:
        begin(slot);
        break;
      case 4:
        go_on();
        break;
      default:
        walk(slot);
    }
  }
  void take_some(std::size_t spared) {
    for (unsigned left = 1 + random_() % 4; left > 0; --left) take(spared);
  }

  void walk(std::size_t slot) { found.look_up(slot, 0, hawk_rule_generation(nullptr)); }

  /// Only one thread writes.
  void tell() {
    if (is_telling_) return;
    is_telling_ = true;
    tell_();
    is_telling_ = false;
  }

  static constexpr std::size_t kSlotsUsed = 3;
  static constexpr std::size_t kNone = ~0UL;
  Found found;

 private:
  void map(std::size_t slot, __u64 file) {
    world->files[slot] = file;
    ++world->changes;
  }

  /// A walk that takes its time.
  void begin(std::size_t slot) {
    if (under_way_ != kNone) return;
    under_way_ = slot;
    generation_ = hawk_rule_generation(nullptr);
  }
  void go_on() {
    if (under_way_ != kNone) found.look_up(under_way_, 0, generation_);
    under_way_ = kNone;
  }

  std::minstd_rand random_;
  Tell tell_;
  bool is_telling_ = false;
  std::size_t under_way_ = kNone;
  __u32 generation_ = 0;
};

class CodeRangesInterrupted : public CodeRanges {
 protected:
  void SetUp() override {
    CodeRanges::SetUp();
    slots_announced_ = Turns::kSlotsUsed;
    // Telling takes no memory then: an interrupted action is one of those that were counted.
    for (std::size_t slot = 0; slot < Turns::kSlotsUsed; ++slot) map(slot, 1);
    for (int i = 0; i < 2; ++i) tell();
  }

  /// Interrupts `action`, in which a thread is at the slot `spared`, by what others do: at each of its instructions,
  /// many times, or where a build has made very many of them, at some.
  static void interrupt(Turns& turns, const std::function<void()>& action, std::size_t spared) {
    constexpr unsigned long kSteps = 300'000, kPrime = 7919;
    turns.prepare();
    const unsigned long instructions = Interrupted::count(action);
    ASSERT_GT(instructions, 50u);
    unsigned long interruptions = 0;
    for (unsigned long i = 0, steps = 0; steps < kSteps; ++i) {
      const unsigned long instruction = i * kPrime % instructions;
      turns.prepare();
      turns.take_some(Turns::kNone);
      interruptions += Interrupted::run(instruction, action, [&] { turns.take_some(spared); });
      for (int after = 0; after < 4; ++after) turns.take_some(Turns::kNone);
      ASSERT_EQ(turns.found.wrong, 0u) << "interrupted at instruction " << instruction << " of " << instructions;
      steps += instruction + 1;
    }
    std::printf("%lu interruptions of %lu instructions\n", interruptions, instructions);
    EXPECT_GT(interruptions, 50u);
    EXPECT_GT(turns.found.right, turns.found.unknown);
    EXPECT_GT(turns.found.unknown, 0u);
  }
};

TEST_F(CodeRangesInterrupted, WhileUserSpaceTells) {
  Turns turns(1, [this] { tell(); });
  interrupt(
      turns, [&] { turns.tell(); }, Turns::kNone);
}

TEST_F(CodeRangesInterrupted, WhileAWalkBeginsThere) {
  Turns turns(2, [this] { tell(); });
  interrupt(
      turns, [&] { turns.walk(0); }, 0);
}

TEST_F(CodeRangesInterrupted, WhileAWalkComesThereForTheFirstTime) {
  Turns turns(3, [this] { tell(); });
  interrupt(
      turns, [&] { turns.walk(2); }, 2);
}

}  // namespace
}  // namespace hawk

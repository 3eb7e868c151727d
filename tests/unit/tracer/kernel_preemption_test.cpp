#include "userspace/tracer/kernel_preemption.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace hawk {
namespace {

constexpr std::uint64_t kPreempting = 0xffffffff82266930, kThunk = 0xffffffff82300000, kFirst = 0xffffffff82271918;

/// A kernel's functions by name.
class KernelPreemptionTest : public testing::Test {
 protected:
  void put(const std::string& name, std::uint64_t address) {
    known_[name] = KernelCode{.address = address, .bytes = {}};
  }

  void put_ret(const std::string& name) { known_[name] = {.address = next(), .bytes = {0xc3, 0xcc, 0xcc, 0xcc, 0xcc}}; }

  void put_jmp(const std::string& name, std::uint64_t target) {
    KernelCode code{.address = next(), .bytes = {0xe9}};
    const auto distance = static_cast<std::int32_t>(target - code.address - 5);
    std::memcpy(&code.bytes[1], &distance, sizeof(distance));
    known_[name] = code;
  }

  /// One that was compiled to be switched, and has been switched off.
  void switch_off() {
    put("preempt_schedule", kPreempting);
    put("srso_return_thunk", kThunk);
    put_jmp("__SCT__preempt_schedule", kThunk);
    put_jmp("__SCT__preempt_schedule_notrace", kThunk);
    put_jmp("__SCT__irqentry_exit_cond_resched", kThunk);
  }

  bool preempts() {
    return kernel_preempts_itself([this](std::string_view name) -> std::optional<KernelCode> {
      if (name == hidden_) return std::nullopt;
      const auto found = known_.find(name);
      return found != known_.end() ? found->second : KernelCode();
    });
  }

  std::map<std::string, KernelCode, std::less<>> known_ = {{"schedule", {.address = 0xffffffff82266000, .bytes = {}}}};
  std::string hidden_;

 private:
  std::uint64_t next() { return kFirst + 8 * known_.size(); }
};

TEST_F(KernelPreemptionTest, OneThatIsCompiledWithoutIt) { EXPECT_FALSE(preempts()); }

TEST_F(KernelPreemptionTest, OneThatIsCompiledForIt) {
  put("preempt_schedule", kPreempting);
  EXPECT_TRUE(preempts());
}

TEST_F(KernelPreemptionTest, SwitchedOffByJumpsToAReturn) {
  switch_off();
  EXPECT_FALSE(preempts());
}

TEST_F(KernelPreemptionTest, SwitchedOffByReturns) {
  switch_off();
  for (const char* name :
       {"__SCT__preempt_schedule", "__SCT__preempt_schedule_notrace", "__SCT__irqentry_exit_cond_resched"})
    put_ret(name);
  EXPECT_FALSE(preempts());
}

TEST_F(KernelPreemptionTest, OneOfThemIsOn) {
  for (const char* name :
       {"__SCT__preempt_schedule", "__SCT__preempt_schedule_notrace", "__SCT__irqentry_exit_cond_resched"}) {
    switch_off();
    put_jmp(name, kPreempting);
    EXPECT_TRUE(preempts()) << name;
    switch_off();
    known_.erase(name);
    EXPECT_TRUE(preempts()) << name << " is not there";
  }
}

TEST_F(KernelPreemptionTest, CodeOfAnotherKindIsNotKnown) {
  switch_off();
  known_.at("__SCT__preempt_schedule").bytes = {0x66, 0x66, 0x48, 0x31, 0xc0};
  EXPECT_TRUE(preempts());
}

TEST_F(KernelPreemptionTest, WhatCannotBeReadIsNotKnown) {
  switch_off();
  for (const char* name : {"schedule", "preempt_schedule", "__SCT__preempt_schedule_notrace", "srso_return_thunk"}) {
    hidden_ = name;
    EXPECT_TRUE(preempts()) << name;
  }
  hidden_.clear();
  known_.erase("schedule");
  EXPECT_TRUE(preempts()) << "nothing is found";
}

}  // namespace
}  // namespace hawk

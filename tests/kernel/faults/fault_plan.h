#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/kernel/faults/plan.h"
#include "tests/support/scratch_directory.h"

namespace hawk {

/// Calls that fail.
struct Fault {
  const char* name = "nothing";
  fault_kind kind = FAULT_NONE;
  int error = 0;
  bool for_ever = false;  ///< all from the chosen one on, not that one alone
  std::size_t tries = 0;  ///< when there is not time for every call
};

/// The plan of one run of hawktrace, in a file of its own, and what the preloaded library (faults.c) wrote into it.
class FaultPlan {
 public:
  /// The `first` call of that kind fails, from 1; 0: none.
  explicit FaultPlan(const Fault& fault = {}, std::uint64_t first = 0);
  ~FaultPlan();
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;

  /// That a hawktrace with this plan needs.
  std::map<std::string, std::string> environment() const;
  /// The call that is made next fails as well.
  void fail_next() { __atomic_store_n(&plan_->first, calls() + 1, __ATOMIC_RELAXED); }
  std::uint64_t calls() const { return __atomic_load_n(&plan_->calls, __ATOMIC_RELAXED); }
  /// BPF objects that hawktrace has made.
  std::uint64_t objects() const { return __atomic_load_n(&plan_->object_count, __ATOMIC_RELAXED); }
  /// Expects that the kernel has none of them any more. It may take a moment: some wait for a grace period.
  void expect_no_objects() const;

 private:
  ScratchDirectory directory_;
  std::string path_ = directory_.path("plan");
  fault_plan* plan_ = nullptr;
};

}  // namespace hawk

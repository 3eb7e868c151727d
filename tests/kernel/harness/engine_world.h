#pragma once

#include <memory>
#include <optional>

#include "tests/kernel/harness/kernel_test.h"
#include "userspace/base/unique_fd.h"
#include "userspace/code/allocator_file.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/features.h"
#include "userspace/tracer/tracer.h"

namespace hawk {

/// The C library that this process has, and so have its children.
class Library {
 public:
  Library();

  /// Has the process traced. Throws std::runtime_error.
  Tracer trace(Engine& engine, int pid, bool filter) const;

 private:
  UniqueFd fd_;
  AllocatorFile allocator_;
};

struct TestEngineOptions {
  bool follows_children = false;
  bool histograms = false;
  std::optional<bool> kernel_preempts = {};  ///< what the engine is told; nullopt: what is so
};

/// The programs without anything that uses them. Throws std::runtime_error.
struct TestEngine {
  KernelFeatures features;
  std::unique_ptr<Engine> engine;

  explicit TestEngine(Way way, const TestEngineOptions& options = {});
};

Counters totals(const Drained& drained);

}  // namespace hawk

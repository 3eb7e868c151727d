#include "tests/kernel/harness/engine_world.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "userspace/code/allocator_functions.h"
#include "userspace/elf/elf_image.h"
#include "userspace/unwinding/rule_set.h"

namespace hawk {

Library::Library() {
  Dl_info info = {};
  EXPECT_NE(::dladdr(reinterpret_cast<void*>(&::malloc), &info), 0);
  fd_ = UniqueFd(::open(info.dli_fname, O_RDONLY | O_CLOEXEC));
  const Result<ElfImage> image = ElfImage::make(UniqueFd(::open(info.dli_fname, O_RDONLY | O_CLOEXEC)), info.dli_fname);
  EXPECT_TRUE(image.has_value());
  if (image) allocator_ = find_allocator_functions(*image);
}

Tracer Library::trace(Engine& engine, int pid, bool filter) const {
  Result<Tracer> tracer = Tracer::make(engine, pid, filter);
  if (!tracer) throw std::runtime_error(tracer.error().what);
  AllocatorFile allocator = allocator_;
  tracer->settle(allocator);
  engine.set_unwind_rules(RuleSet().rules());
  EXPECT_TRUE(engine.reserve_unwind_rows(0).has_value());
  const Result<bool> attached = tracer->attach_allocator(fd_.get(), allocator);
  if (!attached) throw std::runtime_error(attached.error().what);
  tracer->enable();
  return *std::move(tracer);
}

TestEngine::TestEngine(Way way, const TestEngineOptions& options) {
  const KernelTypes types;
  const Result<KernelFeatures> found = probe_kernel_features(types);
  if (!found) throw std::runtime_error(found.error().what);
  features = *found;
  const LiveTable table = live_table(way) == "arena" ? LiveTable::kArena : LiveTable::kHash;
  Result<std::unique_ptr<Engine>> made =
      Engine::make({.way = *parse_attach_way(attach_via(way)),
                    .follows_children = options.follows_children,
                    .live_table = table,
                    .memory = {.max_stacks = 1 << 16, .max_depth = 16},
                    .max_depth = 16,
                    .unwind = HAWK_UNWIND_FP,
                    .histograms = options.histograms,
                    .programs_on_functions = features.programs_on_functions,
                    .kernel_preempts = options.kernel_preempts.value_or(features.preempts_itself)},
                   types);
  if (!made) throw std::runtime_error(made.error().what);
  engine = *std::move(made);
}

Counters totals(const Drained& drained) {
  Counters sum;
  for (const StackCounters& stack : drained.counters) sum += stack.counters;
  return sum;
}

}  // namespace hawk

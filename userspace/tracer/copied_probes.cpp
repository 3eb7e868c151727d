#include "userspace/tracer/copied_probes.h"

#include "userspace/tracer/links.h"
#include "userspace/tracer/trivial_program.h"

namespace hawk {
namespace {

/// For each the kernel walks all processes that map the file.
constexpr std::chrono::seconds kOften{5};

}  // namespace

void CopiedProbes::add(std::uint32_t number, const hawk_target& target, const ProbeLinks& links) {
  makers_[number] = {.target = &target, .links = &links};
}

void CopiedProbes::remove(ProbeRemover& remover) {
  const auto now = std::chrono::steady_clock::now();
  for (auto& [number, maker] : makers_) {
    const std::uint64_t executed = __atomic_load_n(&maker.target->children_executed, __ATOMIC_ACQUIRE);
    const std::uint64_t children = __atomic_load_n(&maker.target->losses[HAWK_LOSS_UNTRACED_CHILD], __ATOMIC_ACQUIRE);
    // Those that run a program of their own have no copies any more.
    if (children == maker.children || children <= executed || now - maker.looked_at < kOften) continue;
    maker.children = children;
    maker.looked_at = now;
    if (!program_) program_ = load_trivial_program(kAttachTypeUprobeMulti);
    remover.remove(maker.links->make_further(program_.get()));
  }
}

}  // namespace hawk

#include "userspace/tracer/tracer.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "bpf/layout.h"
#include "userspace/base/log.h"
#include "userspace/tracer/allocator_ranges.h"
#include "userspace/tracer/engine_parts.h"
#include "userspace/tracer/interceptors.h"
#include "userspace/tracer/live_table_check.h"
#include "userspace/tracer/probe_links.h"
#include "userspace/tracer/probe_sets.h"
#include "userspace/tracer/task_iteration.h"

namespace hawk {
namespace {

/// Takes a target's place, and gives it back.
class TakenTarget {
 public:
  TakenTarget(Engine::Parts& engine, std::uint32_t number) : engine_(engine), number_(number) {}
  TakenTarget(const TakenTarget&) = delete;
  TakenTarget& operator=(const TakenTarget&) = delete;
  ~TakenTarget() { engine_.give_back_target(number_); }

  std::uint32_t number() const { return number_; }

 private:
  Engine::Parts& engine_;
  std::uint32_t number_;
};

}  // namespace

// Destruction runs from the last member to the first: probes go before what they are for.
struct Tracer::Impl {
  Impl(Engine::Parts& parts, std::uint32_t number, int process, int probed_pid)
      : engine(parts),
        pid(process),
        place(parts, number),
        target(parts.maps.targets[number]),
        code_places(parts.code->no_places()),
        probes(parts.options.way, probed_pid) {}

  Engine::Parts& engine;
  int pid;
  TakenTarget place;
  hawk_target& target;
  CodeTables::Places code_places;
  std::uint32_t files_with_free = 0;
  ProbeLinks probes;

  /// Entries of functions whose return probe, if they have any, is not the kernel's.
  Result<void> attach_entries(int fd, const ProbeSets& sets) {
    if (sets.entries.empty()) return {};
    const auto& programs = HAWK_TRY(engine.programs_for_throwing())->progs;
    HAWK_TRY_VOID(probes.add(programs.alloc_return, fd, sets.throwing_returns));
    return probes.add(programs.alloc_entry, fd, sets.entries);
  }

  Result<void> attach_plans(int fd, const ProbeSets& sets) {
    std::optional<std::vector<Probe>> probed = engine.yield_points->add(sets.yields);
    if (!probed) return fail(ExitCode::kPrivilege, "more points are to be probed than there is room for");
    probed->insert(probed->end(), sets.planned_entries.begin(), sets.planned_entries.end());
    return probes.add(engine.skeleton->progs.alloc_yield, fd, *probed);
  }

  /// Frees first and entries last. A block whose allocation is seen must not be freed unseen.
  Result<void> attach(int fd, const ProbeSets& sets) {
    const auto& programs = engine.skeleton->progs;
    HAWK_TRY_VOID(probes.add(programs.unfollowed_entry, fd, sets.unfollowed));
    HAWK_TRY_VOID(probes.add(programs.free_entry, fd, sets.frees));
    HAWK_TRY_VOID(attach_plans(fd, sets));
    HAWK_TRY_VOID(attach_entries(fd, sets));
    if (engine.options.way == AttachWay::kSession) return probes.add(programs.alloc_session, fd, sets.returning);
    HAWK_TRY_VOID(probes.add(programs.alloc_return, fd, sets.returning, true));
    return probes.add(programs.alloc_entry, fd, sets.returning);
  }

  void count_loss(hawk_loss cause, std::uint64_t times) const {
    __atomic_fetch_add(&target.losses[cause], times, __ATOMIC_RELAXED);
  }
};

Tracer::Tracer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tracer::Tracer(Tracer&&) noexcept = default;
Tracer& Tracer::operator=(Tracer&&) noexcept = default;
Tracer::~Tracer() = default;

Result<Tracer> Tracer::make(Engine& engine, int pid, bool filter_by_pid) {
  const std::uint32_t number = HAWK_TRY(engine.parts().take_target(pid));
  return Tracer(std::make_unique<Impl>(engine.parts(), number, pid, filter_by_pid ? pid : 0));
}

std::uint32_t Tracer::number() const { return impl_->place.number(); }

Result<void> Tracer::require_no_interceptor() {
  const Engine::Parts& engine = impl_->engine;
  if (!engine.options.returns_are_calls) return {};
  return hawk::require_no_interceptor(engine.skeleton->progs.find_interceptors, *engine.maps.state, impl_->pid);
}

bool Tracer::follows_plans() const { return impl_->engine.options.by_plan; }

void Tracer::settle(AllocatorFile& allocator) const { settle_plans(allocator, impl_->engine.options.by_plan); }

Result<void> Tracer::attach_allocator(int fd, const AllocatorFile& allocator) {
  const ProbeSets sets = sort_probes(allocator);
  forget_allocator_ranges(impl_->target);  // until they are set again
  if (!sets.frees.empty() && ++impl_->files_with_free > 1) impl_->target.several_allocators = 1;
  const auto has_moved = [](const Probe& probe) { return probe.cookie >> HAWK_COOKIE_MOVED_SHIFT != 0; };
  if (std::any_of(sets.frees.begin(), sets.frees.end(), has_moved)) impl_->engine.maps.state->frees_moved = 1;
  const ProbeLinks::Mark before = impl_->probes.mark();
  const std::uint32_t points_before = impl_->engine.yield_points->count();
  Result<void> attached = impl_->attach(fd, sets);
  if (!attached) {
    impl_->probes.remove_since(before);
    impl_->engine.yield_points->forget_from(points_before);
  }
  return attached;
}

Result<std::optional<std::uint32_t>> Tracer::add_operator_frames(int fd, const OperatorFrames& frames,
                                                                 bool watch_init) {
  if (impl_->target.operator_file_count == HAWK_MAX_OPERATOR_FILES) return std::optional<std::uint32_t>();
  const std::uint32_t number = HAWK_TRY(impl_->engine.operator_rules.number_of(frames.call_sites));
  const std::uint32_t place = add_operator_file(impl_->target, number, frames);
  if (watch_init && frames.init_offset) {
    HAWK_TRY_VOID(impl_->probes.add(impl_->engine.skeleton->progs.module_init, fd,
                                    {{.file_offset = *frames.init_offset, .cookie = number}}));
  }
  return std::optional<std::uint32_t>(place);
}

void Tracer::set_module_base(std::uint32_t module, std::uint64_t base) {
  set_operator_file_base(impl_->target, module, base);
}

Result<void> Tracer::reserve_unwind_rows(std::uint64_t rows) {
  impl_->engine.frames->thread().start();
  if (impl_->engine.reserve) impl_->engine.reserve->thread().start();
  return impl_->engine.code->reserve_rows(rows);
}

Result<std::optional<std::uint32_t>> Tracer::add_unwind_rows(std::span<const hawk_row> rows) {
  return impl_->engine.code->add_rows(rows);
}

void Tracer::set_unwind_rules(std::span<const hawk_rule> rules) { impl_->engine.code->set_rules(rules); }

void Tracer::add_file_part(const hawk_file_part& part, const hawk_code_range& code) {
  impl_->engine.code->add_file_part(part, code);
}

void Tracer::remove_file_part(const hawk_file_part& part) { impl_->engine.code->remove_file_part(part); }

void Tracer::set_code_ranges(std::span<const hawk_code_range> ranges) {
  impl_->engine.code->set_ranges(impl_->target, impl_->code_places, ranges);
}

bool Tracer::code_ranges_are_stale() const {
  return __atomic_load_n(&impl_->target.code_ranges_stale, __ATOMIC_ACQUIRE) != 0;
}

std::uint64_t Tracer::unwind_misses() const { return __atomic_load_n(&impl_->target.unwind_misses, __ATOMIC_RELAXED); }

void Tracer::set_allocator_ranges(const std::vector<AddressRange>& ranges) {
  hawk::set_allocator_ranges(impl_->target, ranges);
}

void Tracer::enable() {
  Engine::Parts& engine = impl_->engine;
  engine.frames->thread().wait_until_open();
  if (engine.reserve) engine.reserve->thread().wait_until_open();
  __atomic_store_n(&impl_->target.enabled, impl_->target.first_program, __ATOMIC_SEQ_CST);
  __atomic_store_n(&engine.maps.state->enabled, 1, __ATOMIC_SEQ_CST);
}

LastLook Tracer::last_look() {
  Engine::Parts& engine = impl_->engine;
  return {impl_->target, engine.skeleton->bss->probe_points, engine.probe_points};
}

void Tracer::count_loss(hawk_loss cause, std::uint64_t times) { impl_->count_loss(cause, times); }

bool Tracer::has_stacks() const {
  return __atomic_load_n(&impl_->engine.maps.state->next_frame, __ATOMIC_RELAXED) != 0;
}

void Tracer::stop() {
  __atomic_store_n(&impl_->target.enabled, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&impl_->engine.maps.state->searched_target, number(), __ATOMIC_SEQ_CST);
  // Without what it would find, sharers of its memory are not known.
  const Result<void> looked = run_for_tasks(impl_->engine.skeleton->progs.check_sharers, std::nullopt);
  if (!looked) log_verbose(fmt::format("look for processes that share memory: {}", looked.error().what));
  impl_->probes.remove_all();
  // No call can return any more: what is still counted as nested in an open one was hidden by it.
  count_loss(HAWK_LOSS_ABANDONED_CALL, impl_->target.doubted_calls);
  count_loss(HAWK_LOSS_HIDDEN_CALL, pending_on(impl_->engine.maps, impl_->target.reserved_numbers + HAWK_NESTED).count);
}

Result<bool> Tracer::verify(const Drained& drained) {
  return live_table_agrees(impl_->engine.live_blocks(), impl_->engine.maps, impl_->target, drained);
}

}  // namespace hawk

#include "userspace/tracer/tracer.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "bpf/layout.h"
#include "userspace/base/log.h"
#include "userspace/tracer/allocator_ranges.h"
#include "userspace/tracer/engine_parts.h"
#include "userspace/tracer/interceptors.h"
#include "userspace/tracer/live_table_check.h"
#include "userspace/tracer/monotonic_time.h"
#include "userspace/tracer/probe_links.h"
#include "userspace/tracer/probe_sets.h"
#include "userspace/tracer/task_iteration.h"

namespace hawk {

/// Takes a target's place, and gives it back.
class TakenTarget {
 public:
  TakenTarget(Engine::Parts& engine, std::uint32_t number) : engine_(engine), number_(number) {}
  TakenTarget(const TakenTarget&) = delete;
  TakenTarget& operator=(const TakenTarget&) = delete;
  ~TakenTarget() { engine_.places->give_back(number_); }

  std::uint32_t number() const { return number_; }

 private:
  Engine::Parts& engine_;
  std::uint32_t number_;
};

// Destruction runs from the last member to the first: probes go before what they are for.
struct Tracer::Impl {
  Impl(Engine::Parts& parts, std::uint32_t number, int process, int probed_pid)
      : engine(parts),
        pid(process),
        place(parts, number),
        target(parts.maps.targets[number]),
        code_area(parts.code->no_area()),
        probes(make_probes(parts, process, probed_pid)) {
    if (!parts.options.follows_children && !parts.file_links) parts.copied_probes.add(number, target, probes);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  /// The removal of the links of a file whose last target is gone is not waited for.
  ~Impl() {
    engine.copied_probes.forget(place.number());
    if (!engine.file_links) {
      probes.remove_all();
    } else if (probes.leave_to_others()) {
      engine.remover.remove(std::move(probes));
    }
    add_holds(engine.holds, target);
  }

  Engine::Parts& engine;
  int pid;
  TakenTarget place;
  hawk_target& target;
  PooledArea code_area;
  std::uint32_t files_with_free = 0;
  std::vector<OperatorRules::Use> operator_rules;  ///< of the target's files; kept as long as the programs may look
  /// Device and inode of the probed files, and when (CLOCK_MONOTONIC). Kept where others inherit the probes.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> probed_files;
  std::uint32_t late_allocators = 0;  ///< probed since release_held(), while a thread was to be held
  ProbeLinks probes;

  std::uint64_t files_taken_ns = 0;  ///< all files that were announced before then have been taken
  std::uint32_t mapped_allocators_taken = allocators_mapped(target);  ///< what has been mapped up to then is known
  std::uint64_t programs_began_ns = 0;  ///< none of the programs that map the files which are taken now began before

  static ProbeLinks make_probes(Engine::Parts& parts, int process, int probed_pid) {
    if (parts.file_links) return ProbeLinks(*parts.file_links);
    if (parts.inherited_probes) return {*parts.inherited_probes, process};
    return {parts.options.way, probed_pid};
  }

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
    HAWK_TRY_VOID(engine.watch_signals_for(sets.yields));
    probed->insert(probed->end(), sets.planned_entries.begin(), sets.planned_entries.end());
    return probes.add(engine.skeleton->progs.alloc_yield, fd, *probed);
  }

  /// Frees first and entries last. A block whose allocation is seen must not be freed unseen.
  Result<void> attach(int fd, const ProbeSets& sets) {
    const auto& programs = engine.skeleton->progs;
    if (!sets.unfollowed.empty()) HAWK_TRY_VOID(engine.later.require(programs.unfollowed_entry));
    HAWK_TRY_VOID(probes.add(programs.unfollowed_entry, fd, sets.unfollowed));
    HAWK_TRY_VOID(probes.add(programs.free_entry, fd, sets.frees));
    HAWK_TRY_VOID(attach_plans(fd, sets));
    HAWK_TRY_VOID(attach_entries(fd, sets));
    return attach_returning(fd, sets);
  }

  Result<void> attach_returning(int fd, const ProbeSets& sets) {
    if (sets.returning.empty()) return {};
    const auto& programs = HAWK_TRY(engine.programs_for_returning())->progs;
    if (engine.options.way == AttachWay::kSession) return probes.add(programs.alloc_session, fd, sets.returning);
    HAWK_TRY_VOID(probes.add(programs.alloc_return, fd, sets.returning, true));
    return probes.add(programs.alloc_entry, fd, sets.returning);
  }

  /// The others go by memory: a process that shares it has them.
  void find_unseen_sharers() {
    if (engine.inherited_probes || engine.file_links) return;
    __atomic_store_n(&engine.maps.state->searched_target, place.number(), __ATOMIC_SEQ_CST);
    // Without what it would find, sharers of its memory are not known.
    const Result<void> looked = run_for_tasks(engine.skeleton->progs.check_sharers, std::nullopt);
    if (!looked) log_verbose(fmt::format("look for processes that share memory: {}", looked.error().what));
  }

  bool has_inherited(int fd) const {
    struct stat file = {};
    return ::fstat(fd, &file) == 0 && probed_files.contains({file.st_dev, file.st_ino});
  }

  void note_probed(int fd) {
    struct stat file = {};
    if (!engine.inherited_probes || ::fstat(fd, &file) != 0) return;
    probed_files.emplace(std::pair(file.st_dev, file.st_ino), now_ns());
  }

  /// Of a program that has run for a while the ranges of its allocators are known: what one that it has just loaded
  /// calls is taken for calls of the program's own.
  bool has_ranges_of_running_program() const {
    const bool is_new = target.is_new_program != 0 || target.program != target.first_program;
    return !is_new && target.files.allocator_range_count != 0;
  }

  std::uint64_t program_began_ns() const { return __atomic_load_n(&target.program_began_ns, __ATOMIC_ACQUIRE); }

  /// What it has started, and is not known yet, has the links for its files by it: those are kept until it is.
  void move_probes_to(ProbeLinks& other) {
    if (engine.options.follows_children) {
      probes.move_own_to(other);
    } else {
      probes.move_to(other);
    }
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
  const std::uint32_t number = HAWK_TRY(engine.parts().places->take(pid));
  return Tracer(std::make_unique<Impl>(engine.parts(), number, pid, filter_by_pid ? pid : 0));
}

Tracer Tracer::adopt(Engine& engine, const Birth& birth, const Tracer* maker) {
  auto impl = std::make_unique<Impl>(engine.parts(), birth.number, birth.pid, birth.pid);
  impl->probes.note_maker(maker != nullptr ? &maker->impl_->probes : nullptr);
  const bool may_have_lost = impl->probes.may_have_lost(birth.time_ns);
  if (maker != nullptr) {
    impl->probed_files = maker->impl_->probed_files;
    std::erase_if(impl->probed_files, [&](const auto& file) { return file.second >= birth.time_ns; });
    if (!birth.is_new_program) impl->files_with_free = maker->impl_->files_with_free;
    if (!birth.is_new_program) impl->operator_rules = maker->impl_->operator_rules;
    if (!birth.is_new_program) impl->probes.use_links_of(maker->impl_->probes);
  }
  Tracer tracer(std::move(impl));
  if (may_have_lost) tracer.count_loss(HAWK_LOSS_MISSING_BREAKPOINT);
  return tracer;
}

std::uint32_t Tracer::number() const { return impl_->place.number(); }

std::uint32_t Tracer::first_program() const { return impl_->target.first_program; }

bool Tracer::has_run(std::uint32_t program) const {
  return (program & HAWK_TARGET_MASK) == number() && program >= first_program() && program <= this->program();
}

Result<void> Tracer::require_no_interceptor() {
  const Engine::Parts& engine = impl_->engine;
  if (!engine.options.returns_are_calls) return {};
  return hawk::require_no_interceptor(engine.skeleton->progs.find_interceptors, *engine.maps.state, impl_->pid);
}

bool Tracer::follows_plans() const { return impl_->engine.options.by_plan; }

Plans Tracer::plans() const {
  if (!follows_plans()) return Plans::kNone;
  return impl_->engine.options.follows_regions ? Plans::kMadeForMappings : Plans::kMade;
}

void Tracer::settle(AllocatorFile& allocator) const {
  if (!follows_plans()) return give_up_plans(allocator, "not asked for");
  impl_->engine.yield_points->settle(allocator);
}

bool Tracer::shares_probes(int fd) const { return impl_->engine.file_links || impl_->has_inherited(fd); }

Result<bool> Tracer::attach_allocator(int fd, const AllocatorFile& allocator) {
  const ProbeSets sets = sort_probes(allocator);
  const bool is_missing_in_ranges = impl_->has_ranges_of_running_program();
  forget_allocator_ranges(impl_->target);  // until they are set again
  if (!sets.frees.empty() && ++impl_->files_with_free > 1) impl_->target.several_allocators = 1;
  if (std::any_of(sets.frees.begin(), sets.frees.end(), has_moved_block)) impl_->engine.maps.state->frees_moved = 1;
  if (impl_->has_inherited(fd)) return false;
  if (impl_->engine.file_links) impl_->engine.remover.wait();  // or a call would be seen by what is being closed, too
  const ProbeLinks::Mark before = impl_->probes.mark();
  const std::uint32_t points_before = impl_->engine.yield_points->count();
  const Result<void> attached = impl_->attach(fd, sets);
  if (!attached) {
    impl_->probes.remove_since(before);
    impl_->engine.yield_points->forget_from(points_before);
    return tl::unexpected<Error>(attached.error());
  }
  impl_->note_probed(fd);
  return is_missing_in_ranges || !impl_->probes.are_older_than(impl_->programs_began_ns, before);
}

std::optional<std::uint64_t> Tracer::hits_of(const YieldPoint& point, hawk_call_kind kind) const {
  const std::optional<hawk_yield_point> encoded = encode_yield(point, kind);
  if (!encoded) return std::nullopt;
  return impl_->engine.yield_points->hits({.file_offset = point.file_offset, .point = *encoded});
}

Tracer::Asked Tracer::ask_for_files() const {
  return {.time_ns = now_ns(),
          .program_began_ns = impl_->program_began_ns(),
          .allocators_mapped = allocators_mapped(impl_->target)};
}

void Tracer::take_files(const Asked& asked, std::size_t programs) {
  const std::uint64_t began_ns = impl_->program_began_ns();
  const bool is_of_one = programs <= 1 && asked.program_began_ns == began_ns;
  impl_->programs_began_ns =
      is_of_one ? began_ns : std::max<std::uint64_t>(impl_->target.born_ns, impl_->files_taken_ns);
  impl_->files_taken_ns = asked.time_ns;
  impl_->mapped_allocators_taken = asked.allocators_mapped;
}

Result<std::optional<std::uint32_t>> Tracer::add_operator_frames(int fd, const OperatorFrames& frames,
                                                                 bool watch_init) {
  if (impl_->target.files.operator_file_count == HAWK_MAX_OPERATOR_FILES) return std::optional<std::uint32_t>();
  OperatorRules::Use rules = HAWK_TRY(impl_->engine.operator_rules.use(frames.call_sites));
  const std::uint32_t number = rules->number;
  impl_->operator_rules.push_back(std::move(rules));
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

void Tracer::set_code_ranges(std::span<const hawk_code_range> ranges) {
  impl_->engine.code->set_ranges(impl_->target, impl_->code_area, ranges);
}

bool Tracer::code_ranges_are_stale() const {
  return __atomic_load_n(&impl_->target.code_ranges_stale, __ATOMIC_ACQUIRE) != 0;
}

std::uint64_t Tracer::unwind_misses() const { return __atomic_load_n(&impl_->target.unwind_misses, __ATOMIC_RELAXED); }

void Tracer::set_allocator_ranges(const std::vector<AddressRange>& ranges) {
  hawk::set_allocator_ranges(impl_->target, ranges, impl_->mapped_allocators_taken);
}

void Tracer::enable() {
  Engine::Parts& engine = impl_->engine;
  engine.frames->thread().wait_until_open();
  if (engine.reserve) engine.reserve->thread().wait_until_open();
  __atomic_store_n(&impl_->target.enabled, impl_->target.first_program, __ATOMIC_SEQ_CST);
  __atomic_store_n(&engine.maps.state->enabled, 1, __ATOMIC_SEQ_CST);
}

void Tracer::note_unknown_segments() {
  __atomic_store_n(&impl_->target.segment_bytes, HAWK_END_OF_MEMORY, __ATOMIC_SEQ_CST);
}

std::uint64_t Tracer::memory() const { return __atomic_load_n(&impl_->target.memory, __ATOMIC_ACQUIRE); }
std::uint32_t Tracer::program() const { return __atomic_load_n(&impl_->target.program, __ATOMIC_ACQUIRE); }

bool Tracer::process_has_ended() const { return __atomic_load_n(&impl_->target.ended_ns, __ATOMIC_ACQUIRE) != 0; }

bool Tracer::process_has_ended_elsewhere() const {
  return process_has_ended() && __atomic_load_n(&impl_->target.ended_elsewhere, __ATOMIC_ACQUIRE) != 0;
}

AddressRange Tracer::unrun_code() const {
  if (!process_has_ended()) return {};
  return {.start = impl_->target.unrun_code.start, .end = impl_->target.unrun_code.end};
}

LastLook Tracer::last_look() { return {impl_->target, *impl_->engine.probe_points}; }

void Tracer::count_loss(hawk_loss cause, std::uint64_t times) { impl_->count_loss(cause, times); }

bool Tracer::holds_threads() const { return impl_->engine.options.holds; }
std::uint32_t Tracer::holds_wanted() const { return __atomic_load_n(&impl_->target.holds_wanted, __ATOMIC_SEQ_CST); }

void Tracer::note_studied(const hawk_file_key& file, bool has_probes) {
  if (!has_probes) return impl_->engine.studied_files.add_without_probes(file);
  __atomic_fetch_or(&impl_->target.probed_files_mask, impl_->engine.studied_files.add_with_probes(file),
                    __ATOMIC_SEQ_CST);
}

void Tracer::note_late_allocator() {
  if (holds_wanted() == impl_->target.holds_released) return count_loss(HAWK_LOSS_LATE_ALLOCATOR);
  ++impl_->late_allocators;
}

void Tracer::release_held(std::uint32_t wanted) {
  hawk_target& target = impl_->target;
  const std::uint32_t before = __atomic_exchange_n(&target.holds_released, wanted, __ATOMIC_SEQ_CST);
  if (before == wanted) return;
  __atomic_store_n(&impl_->engine.maps.state->holds_suspended, 0, __ATOMIC_SEQ_CST);
  const std::uint32_t late = std::exchange(impl_->late_allocators, 0);
  const std::uint32_t missed = __atomic_load_n(&target.holds_missed, __ATOMIC_SEQ_CST);
  // One that went on before this call.
  if (missed != 0 && static_cast<std::int32_t>(missed - before) > 0) count_loss(HAWK_LOSS_LATE_ALLOCATOR, late);
}

bool Tracer::has_stacks() const {
  return __atomic_load_n(&impl_->engine.maps.state->next_frame, __ATOMIC_RELAXED) != 0;
}

/// Without probes removed yet.
void Tracer::stop_counting() {
  impl_->engine.copied_probes.forget(impl_->place.number());
  __atomic_store_n(&impl_->target.enabled, 0, __ATOMIC_SEQ_CST);
  impl_->find_unseen_sharers();
}

/// No call can return any more: what is still counted as nested in an open one was hidden by it.
void Tracer::count_unfinished() {
  count_loss(HAWK_LOSS_ABANDONED_CALL, impl_->target.doubted_calls);
  count_loss(HAWK_LOSS_LOST_CALL, impl_->target.interrupted_calls);
  count_loss(HAWK_LOSS_HIDDEN_CALL, pending_on(impl_->engine.maps, impl_->target.reserved_numbers + HAWK_NESTED).count);
}

void Tracer::stop() {
  Tracer* const only = this;
  stop_all({&only, 1});
}

void Tracer::stop_all(std::span<Tracer* const> tracers) {
  if (tracers.empty()) return;
  ProbeLinks all(tracers.front()->impl_->engine.options.way, 0);
  for (Tracer* const tracer : tracers) {
    tracer->stop_counting();
    tracer->impl_->move_probes_to(all);
  }
  all.remove_all();
  for (Tracer* const tracer : tracers) tracer->count_unfinished();
}

void Tracer::stop_ended() {
  stop_counting();
  impl_->probes.note_ended();
  ProbeLinks links(impl_->engine.options.way, 0);
  impl_->move_probes_to(links);
  if (links.leave_to_others()) impl_->engine.remover.remove(std::move(links));
  count_unfinished();
}

Result<bool> Tracer::verify(std::span<const StackCounters> counters) {
  // While others are traced, their programs may just be moving blocks of this one, as the table grows: such a block is
  // seen twice, or not at all.
  constexpr int kAttempts = 32;
  bool agrees = false;
  for (int i = 0; i < kAttempts && !agrees; ++i) {
    agrees = HAWK_TRY(live_table_agrees(impl_->engine.live_blocks(), impl_->engine.maps, impl_->target, counters));
  }
  return agrees;
}

}  // namespace hawk

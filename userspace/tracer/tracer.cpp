#include "userspace/tracer/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/types.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bpf/layout.h"
#include "bpf/live/arena_layout.h"
#include "bpf/live/overflow_filter.h"
#include "hawktrace.skel.h"
#include "userspace/base/log.h"
#include "userspace/base/owned.h"
#include "userspace/base/system_failure.h"
#include "userspace/tracer/allocator_ranges.h"
#include "userspace/tracer/arena_memory.h"
#include "userspace/tracer/block_reserve.h"
#include "userspace/tracer/code_tables.h"
#include "userspace/tracer/direct_map.h"
#include "userspace/tracer/drain.h"
#include "userspace/tracer/frame_store.h"
#include "userspace/tracer/interceptors.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/live_table_check.h"
#include "userspace/tracer/map_memory.h"
#include "userspace/tracer/operator_call_sites.h"
#include "userspace/tracer/probe_links.h"
#include "userspace/tracer/probe_sets.h"
#include "userspace/tracer/programs.h"
#include "userspace/tracer/task_iteration.h"
#include "userspace/tracer/wakeups.h"
#include "userspace/tracer/yield_points.h"

namespace hawk {
namespace {

Result<KernelMaps> map_arrays(hawktrace& skeleton, const hawk_config& config) {
  KernelMaps maps;
  maps.config = config;
  maps.state = &skeleton.data->state;
  maps.child_programs_fd = bpf_map__fd(skeleton.maps.child_programs);
  const std::size_t stripes = config.cpu_mask + 1;
  maps.counters = HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.counters),
                                             stripes * config.max_stacks * sizeof(hawk_counters), "counters"));
  maps.stack_records = HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.stack_records),
                                                  config.max_stacks * sizeof(hawk_stack_record), "stack_records"));
  maps.locations = HAWK_TRY(
      MappedArray::make(bpf_map__fd(skeleton.maps.locations), (config.location_mask + 1) * sizeof(__u64), "locations"));
  return maps;
}

/// Runs an iterator over tasks. Without what it would find, the process is known by its number.
void run_iterator(const bpf_program* program, std::optional<int> pid) {
  const Result<void> done = run_for_tasks(program, pid);
  if (!done) log_verbose(fmt::format("{}: {}", bpf_program__name(program), done.error().what));
}

}  // namespace

// Destruction runs from the last member to the first: probes go before the maps they use.
struct Tracer::Impl {
  TracerOptions options;
  LiveTable table = LiveTable::kHash;
  MemoryPlan plan;
  Skeleton skeleton;
  Skeleton throwing;  ///< see load_throwing_programs; loaded when it is needed
  KernelMaps maps;
  std::unique_ptr<FrameStore> frames;
  std::unique_ptr<BlockReserve> reserve;
  std::optional<ArenaMemory> arena;
  std::optional<CodeTables> code;
  WakeupRing wakeups;
  bool memory_refused = false;
  bool frames_refused = false;
  bool reserve_refused = false;
  Drain drain;
  std::uint32_t cleaned_epoch = 0;
  std::uint32_t files_with_free = 0;
  std::vector<UniqueFd> tracepoints;
  std::optional<ProbeLinks> probes;
  std::optional<YieldPoints> yield_points;

  Result<void> load(LiveTable kind) {
    table = kind;
    plan = HAWK_TRY(plan_memory(options.memory, table, static_cast<std::uint32_t>(libbpf_num_possible_cpus())));
    skeleton = HAWK_TRY(load_programs(options, table, plan));
    return {};
  }

  /// Where the programs for functions that may throw are.
  Result<hawktrace*> programs_for_throwing() {
    if (options.way != AttachWay::kSession) return skeleton.get();
    if (!throwing) throwing = HAWK_TRY(load_throwing_programs(*skeleton));
    return throwing.get();
  }

  /// Entries of functions whose return probe, if they have any, is not the kernel's.
  Result<void> attach_entries(int fd, const ProbeSets& sets) {
    if (sets.entries.empty()) return {};
    const auto& programs = HAWK_TRY(programs_for_throwing())->progs;
    HAWK_TRY_VOID(probes->add(programs.alloc_return, fd, sets.throwing_returns));
    return probes->add(programs.alloc_entry, fd, sets.entries);
  }

  Result<void> attach_yields(int fd, const std::vector<YieldProbe>& yields) {
    std::vector<Probe> numbered;
    for (const YieldProbe& yield : yields) {
      const std::optional<std::uint32_t> number = yield_points->add(yield.point);
      if (!number) return fail(ExitCode::kPrivilege, "more points are to be probed than there is room for");
      numbered.push_back({.file_offset = yield.file_offset, .cookie = *number});
    }
    return probes->add(skeleton->progs.alloc_yield, fd, numbered);
  }

  /// Frees first and entries last. A block whose allocation is seen must not be freed unseen.
  Result<void> attach(int fd, const ProbeSets& sets) {
    const auto& programs = skeleton->progs;
    HAWK_TRY_VOID(probes->add(programs.unfollowed_entry, fd, sets.unfollowed));
    HAWK_TRY_VOID(probes->add(programs.free_entry, fd, sets.frees));
    HAWK_TRY_VOID(attach_yields(fd, sets.yields));
    HAWK_TRY_VOID(attach_entries(fd, sets));
    if (options.way == AttachWay::kSession) return probes->add(programs.alloc_session, fd, sets.returning);
    HAWK_TRY_VOID(probes->add(programs.alloc_return, fd, sets.returning, true));
    return probes->add(programs.alloc_entry, fd, sets.returning);
  }

  Result<void> open_arena() {
    arena = HAWK_TRY(ArenaMemory::make({.address = bpf_map__map_extra(skeleton->maps.arena),
                                        .make_pages = bpf_program__fd(skeleton->progs.arena_make_pages),
                                        .free_pages = bpf_program__fd(skeleton->progs.arena_free_pages),
                                        .shrink = bpf_program__fd(skeleton->progs.arena_shrink)},
                                       plan.arena_pages, *maps.state));
    wakeups = HAWK_TRY(open_wakeups(bpf_map__fd(skeleton->maps.wakeups)));
    return {};
  }

  Result<void> open_reserve() {
    reserve = HAWK_TRY(BlockReserve::make({.maps_fd = bpf_map__fd(skeleton->maps.reserve_maps),
                                           .wakeups_fd = bpf_map__fd(skeleton->maps.reserve_wakeups),
                                           .state = maps.state},
                                          plan.reserve_blocks));
    return {};
  }

  /// All maps that have blocks as live_blocks has them.
  std::vector<int> block_map_fds() const {
    std::vector<int> fds = reserve ? reserve->map_fds() : std::vector<int>{};
    fds.push_back(bpf_map__fd(skeleton->maps.live_blocks));
    return fds;
  }

  /// All maps but the segments of frames.
  std::vector<int> map_fds() const {
    std::vector<int> fds = code->map_fds();
    if (reserve) {
      const std::vector<int> reserved = reserve->map_fds();
      fds.insert(fds.end(), reserved.begin(), reserved.end());
    }
    bpf_map* map = nullptr;
    bpf_object__for_each_map(map, skeleton->obj) {
      if (bpf_map__autocreate(map)) fds.push_back(bpf_map__fd(map));
    }
    return fds;
  }

  void count_loss(hawk_loss cause, std::uint64_t times) const {
    __atomic_fetch_add(&maps.state->losses[cause], times, __ATOMIC_RELAXED);
  }

  /// Removes the blocks of programs before `epoch` from the hash maps; those in the arena are forgotten by programs.
  void drop_old_blocks(std::uint32_t epoch) {
    const auto forget = [&](std::uint64_t address) {
      __u32& cell = skeleton->bss->overflow_blocks[hawk_overflow_cell(hawk_live_hash(address))];
      if (arena) __atomic_fetch_sub(&cell, 1, __ATOMIC_RELAXED);
    };
    for (const int fd : block_map_fds()) {
      const Result<std::uint64_t> taken_away = drop_old_epochs(fd, epoch, forget);
      if (!taken_away) log_warning(taken_away.error().what);
      if (taken_away) count_loss(HAWK_LOSS_LIVE_TABLE_ERROR, *taken_away);
    }
  }

  Result<void> open_frames() {
    frames = HAWK_TRY(FrameStore::make({.segments_fd = bpf_map__fd(skeleton->maps.frame_segments),
                                        .wakeups_fd = bpf_map__fd(skeleton->maps.frame_wakeups),
                                        .state = maps.state},
                                       plan.frames, plan.spare_frames));
    maps.frames = frames->frames();
    return {};
  }

  Result<void> watch_mappings() {
    const auto& programs = skeleton->progs;
    if (options.programs_on_functions) return attach_tracepoint(programs.mapping_made);
    log_verbose("the kernel cannot have programs on its functions: mappings are told by tracepoints");
    HAWK_TRY_VOID(attach_tracepoint(programs.tree_entry));
    return attach_tracepoint(programs.mappings_unlocked);
  }

  /// The kernel makes no difference between a tracepoint and a function here.
  Result<void> attach_tracepoint(bpf_program* program) {
    UniqueFd fd(bpf_raw_tracepoint_open(nullptr, bpf_program__fd(program)));
    if (!fd) {
      return system_failure(ExitCode::kPrivilege,
                            fmt::format("attach {} to its tracepoint", bpf_program__name(program)), errno);
    }
    tracepoints.push_back(std::move(fd));
    return {};
  }
};

Tracer::Tracer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tracer::Tracer(Tracer&&) noexcept = default;
Tracer& Tracer::operator=(Tracer&&) noexcept = default;
Tracer::~Tracer() = default;

Result<Tracer> Tracer::make(const TracerOptions& options) {
  std::unique_ptr<Impl> impl = std::make_unique<Impl>();
  impl->options = options;
  impl->probes.emplace(options.way, options.filter_by_pid ? options.pid : 0);
  Result<void> loaded = impl->load(options.live_table.value_or(LiveTable::kArena));
  if (!loaded && !options.live_table && loaded.error().exit_code == ExitCode::kPrivilege) {
    log_verbose("the live table cannot be an arena on this kernel, it is a hash map");
    loaded = impl->load(LiveTable::kHash);
  }
  HAWK_TRY_VOID(loaded);
  impl->maps = HAWK_TRY(map_arrays(*impl->skeleton, impl->skeleton->rodata->settings));
  find_direct_map(bpf_program__fd(impl->skeleton->progs.find_direct_map), *impl->maps.state);
  HAWK_TRY_VOID(impl->open_frames());
  HAWK_TRY_VOID(impl->table == LiveTable::kArena ? impl->open_arena() : impl->open_reserve());
  auto& memory = *impl->skeleton->bss;
  impl->yield_points.emplace(memory.yield_points);
  impl->code.emplace(CodeTables::Memory{.segments_fd = bpf_map__fd(impl->skeleton->maps.row_segments),
                                        .known_files_fd = bpf_map__fd(impl->skeleton->maps.known_files),
                                        .state = impl->maps.state,
                                        .rules = memory.unwind_rules,
                                        .ranges = memory.code_ranges,
                                        .range_states = memory.code_range_states,
                                        .cache = memory.unwind_cache});
  const auto& programs = impl->skeleton->progs;
  for (bpf_program* const program : {programs.process_fork, programs.process_exec, programs.thread_exit})
    HAWK_TRY_VOID(impl->attach_tracepoint(program));
  HAWK_TRY_VOID(impl->watch_mappings());
  for (bpf_program* program : {programs.prepare_exec, programs.memory_left_by_exit, programs.memory_left_by_exec}) {
    if (bpf_program__fd(program) >= 0) HAWK_TRY_VOID(impl->attach_tracepoint(program));
  }
  run_iterator(impl->skeleton->progs.find_target, options.pid);
  return Tracer(std::move(impl));
}

Result<void> Tracer::require_no_interceptor() {
  if (!impl_->options.returns_are_calls) return {};
  return hawk::require_no_interceptor(impl_->skeleton->progs.find_interceptors, *impl_->maps.state, impl_->options.pid);
}

void Tracer::settle(AllocatorFile& allocator) const { settle_plans(allocator, impl_->options.by_plan); }

Result<void> Tracer::attach_allocator(int fd, const AllocatorFile& allocator) {
  const ProbeSets sets = sort_probes(allocator);
  forget_allocator_ranges(*impl_->maps.state);  // until they are set again
  if (!sets.frees.empty() && ++impl_->files_with_free > 1) impl_->maps.state->several_allocators = 1;
  const auto has_moved = [](const Probe& probe) { return probe.cookie >> HAWK_COOKIE_MOVED_SHIFT != 0; };
  if (std::any_of(sets.frees.begin(), sets.frees.end(), has_moved)) impl_->maps.state->frees_moved = 1;
  const ProbeLinks::Mark before = impl_->probes->mark();
  const std::uint32_t points_before = impl_->yield_points->count();
  Result<void> attached = impl_->attach(fd, sets);
  if (!attached) {
    impl_->probes->remove_since(before);
    impl_->yield_points->forget_from(points_before);
  }
  return attached;
}

Result<std::optional<std::uint32_t>> Tracer::add_operator_frames(int fd, const OperatorFrames& frames,
                                                                 bool watch_init) {
  const std::optional<std::uint32_t> module =
      HAWK_TRY(add_operator_call_sites(impl_->maps, bpf_map__fd(impl_->skeleton->maps.operator_rules), frames));
  if (module && watch_init && frames.init_offset) {
    HAWK_TRY_VOID(impl_->probes->add(impl_->skeleton->progs.module_init, fd,
                                     {{.file_offset = *frames.init_offset, .cookie = *module}}));
  }
  return module;
}

void Tracer::set_module_base(std::uint32_t module, std::uint64_t base) {
  set_operator_module_base(impl_->maps, module, base);
}

Result<void> Tracer::reserve_unwind_rows(std::uint64_t rows) {
  impl_->frames->thread().start();
  if (impl_->reserve) impl_->reserve->thread().start();
  return impl_->code->reserve_rows(rows);
}

Result<std::optional<std::uint32_t>> Tracer::add_unwind_rows(std::span<const hawk_row> rows) {
  return impl_->code->add_rows(rows);
}

void Tracer::set_unwind_rules(std::span<const hawk_rule> rules) { impl_->code->set_rules(rules); }
void Tracer::add_file_part(const hawk_file_part& part, const hawk_code_range& code) {
  impl_->code->add_file_part(part, code);
}
void Tracer::remove_file_part(const hawk_file_part& part) { impl_->code->remove_file_part(part); }
void Tracer::set_code_ranges(std::span<const hawk_code_range> ranges) { impl_->code->set_ranges(ranges); }

bool Tracer::code_ranges_are_stale() const {
  return __atomic_load_n(&impl_->maps.state->code_ranges_stale, __ATOMIC_ACQUIRE) != 0;
}

std::uint64_t Tracer::unwind_misses() const {
  return __atomic_load_n(&impl_->maps.state->unwind_misses, __ATOMIC_RELAXED);
}

void Tracer::set_allocator_ranges(const std::vector<AddressRange>& ranges) {
  hawk::set_allocator_ranges(*impl_->maps.state, ranges);
}

void Tracer::enable() {
  impl_->frames->thread().wait_until_open();
  if (impl_->reserve) impl_->reserve->thread().wait_until_open();
  __atomic_store_n(&impl_->maps.state->enabled, 1, __ATOMIC_SEQ_CST);
}

LastLook Tracer::last_look() const { return {*impl_->maps.state, impl_->skeleton->bss->probe_points}; }

MappingEvents::Source Tracer::mapping_events() const {
  return {.ring_fd = bpf_map__fd(impl_->skeleton->maps.mapping_events),
          .lost = &impl_->maps.state->mapping_events_lost};
}

int Tracer::wakeup_fd() const { return impl_->wakeups ? ring_buffer__epoll_fd(impl_->wakeups.get()) : -1; }

void Tracer::adjust_memory() {
  if (impl_->frames->thread().is_refused_memory() && !impl_->frames_refused) {
    impl_->frames_refused = true;
    log_warning("the kernel has no memory for more frames: stacks that do not fit are counted as lost");
  }
  if (impl_->reserve && impl_->reserve->thread().is_refused_memory() && !impl_->reserve_refused) {
    impl_->reserve_refused = true;
    log_warning("the kernel has no memory for more blocks: those that do not fit are counted as lost");
  }
  if (!impl_->arena) return;
  ring_buffer__consume(impl_->wakeups.get());
  if (impl_->arena->adjust_pages() || impl_->memory_refused) return;
  impl_->memory_refused = true;
  log_warning("the kernel has no memory for more pages of the live table: blocks that do not fit are counted as lost");
}

std::uint64_t Tracer::table_bytes() const {
  // Of segments of frames nobody has a descriptor once the programs have them.
  const std::uint64_t frames = __atomic_load_n(&impl_->maps.state->frames_ready, __ATOMIC_ACQUIRE);
  return map_memory_bytes(impl_->map_fds()) + frames * sizeof(__u32) +
         (impl_->arena ? impl_->arena->resident_bytes() : 0);
}

LiveTable Tracer::live_table() const { return impl_->table; }
std::uint64_t Tracer::min_block_bytes() const { return impl_->options.min_block_bytes; }

Drained Tracer::drain() {
  Drained drained = impl_->drain.read(impl_->maps);
  if (drained.exec_epoch != impl_->cleaned_epoch) {
    impl_->drop_old_blocks(drained.exec_epoch);
    impl_->cleaned_epoch = drained.exec_epoch;
  }
  return drained;
}

void Tracer::count_loss(hawk_loss cause, std::uint64_t times) { impl_->count_loss(cause, times); }
bool Tracer::has_stacks() const { return __atomic_load_n(&impl_->maps.state->next_frame, __ATOMIC_RELAXED) != 0; }

void Tracer::stop() {
  __atomic_store_n(&impl_->maps.state->enabled, 0, __ATOMIC_SEQ_CST);
  run_iterator(impl_->skeleton->progs.check_sharers, std::nullopt);
  impl_->probes->remove_all();
  impl_->tracepoints.clear();
  impl_->frames->thread().end();
  log_verbose(fmt::format("frames: {} stored; there was always room for {} more", impl_->maps.state->next_frame,
                          impl_->frames->least_room()));
  if (impl_->reserve)
    log_verbose(fmt::format("blocks in reserve: room for {} was needed", impl_->reserve->room_used()));
  // No call can return any more: what is still counted as nested in an open one was hidden by it.
  count_loss(HAWK_LOSS_ABANDONED_CALL, impl_->maps.state->doubted_calls);
  count_loss(HAWK_LOSS_HIDDEN_CALL, pending_on(impl_->maps, HAWK_NESTED).count);
}

Result<bool> Tracer::verify(const Drained& drained) {
  return live_table_agrees({.hash_fds = impl_->block_map_fds(),
                            .arena = impl_->arena ? impl_->arena->live_pages() : std::span<const hawk_live_page>{}},
                           impl_->maps, drained);
}

}  // namespace hawk

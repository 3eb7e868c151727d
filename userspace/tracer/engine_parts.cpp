#include "userspace/tracer/engine_parts.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "bpf/live/arena_layout.h"
#include "bpf/live/overflow_filter.h"
#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"
#include "userspace/tracer/cpu_numbers.h"
#include "userspace/tracer/direct_map.h"
#include "userspace/tracer/task_iteration.h"

namespace hawk {
namespace {

/// One of the programs' variables that begin as zero: user space needs all of them in part, or not at all.
template <class T, std::size_t kSize>
GrowingArray<T> variable(hawktrace& skeleton, T (&elements)[kSize]) {
  return GrowingArray<T>(elements, bpf_map__fd(skeleton.maps.bss), memory_of_zeros(skeleton));
}

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
  if (config.by_thread != 0) maps.thread_names_fd = bpf_map__fd(skeleton.maps.thread_names);
  if (config.by_thread == 0 && config.histograms == 0) return maps;
  maps.stack_lives = HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.stack_lives),
                                                config.max_stacks * sizeof(hawk_stack_lives), "stack_lives"));
  return maps;
}

}  // namespace

Result<void> Engine::Parts::load(LiveTable kind, const KernelTypes& types) {
  table = kind;
  plan = HAWK_TRY(plan_memory(options.memory, table, possible_cpu_numbers()));
  later = {};
  const auto use_maps = [this](hawktrace* made) { return made != nullptr ? open_memory(*made) : close_memory(); };
  skeleton = HAWK_TRY(load_programs(options, table, plan, types, later, use_maps));
  return {};
}

/// The kernel takes 10 ms to add to a map of maps: these wait beside one another, and while programs are checked.
Result<void> Engine::Parts::open_memory(hawktrace& made) {
  maps = HAWK_TRY(map_arrays(made, made.rodata->settings));
  HAWK_TRY_VOID(open_frames(made));
  if (table == LiveTable::kHash) HAWK_TRY_VOID(open_reserve(made));
  auto& memory = *made.bss;
  code.emplace(CodeTables::Memory{.segments_fd = bpf_map__fd(made.maps.row_segments),
                                  .known_files_fd = bpf_map__fd(made.maps.known_files),
                                  .state = maps.state,
                                  .rules = variable(made, memory.unwind_rules),
                                  .ranges = variable(made, memory.code_ranges),
                                  .range_states = variable(made, memory.code_range_states),
                                  .cache = variable(made, memory.unwind_cache)});
  frames->thread().start();
  if (reserve) reserve->thread().start();
  // If there is no memory, that is found out again, and reported, when there are rows.
  if (options.unwind != HAWK_UNWIND_FP) first_rows = try_thread([this] { static_cast<void>(code->reserve_rows(1)); });
  return {};
}

Result<void> Engine::Parts::close_memory() {
  first_rows = {};
  code.reset();
  reserve.reset();
  frames.reset();
  maps = KernelMaps();
  return {};
}

Result<void> Engine::Parts::open_maps() {
  find_direct_map(bpf_program__fd(skeleton->progs.find_direct_map), *maps.state);
  if (table == LiveTable::kArena) HAWK_TRY_VOID(open_arena());
  places.emplace(*skeleton, maps, variable(*skeleton, skeleton->bss->targets));
  auto& memory = *skeleton->bss;
  yield_points.emplace(memory.yield_points, memory.point_hits);
  probe_points.emplace(variable(*skeleton, memory.probe_points), maps.targets);
  operator_rules = OperatorRules(bpf_map__fd(skeleton->maps.operator_rules), HAWK_MAX_OPERATOR_RULES);
  if (options.holds) studied_files = StudiedFiles(bpf_map__fd(skeleton->maps.studied_files));
  return {};
}

CodeTables& Engine::Parts::code_tables() {
  if (first_rows.joinable()) first_rows.join();
  return *code;
}

Result<void> Engine::Parts::open_arena() {
  const auto& programs = skeleton->progs;
  arena = HAWK_TRY(ArenaMemory::make({.address = bpf_map__map_extra(skeleton->maps.arena),
                                      .make_pages = bpf_program__fd(programs.arena_make_pages),
                                      .free_pages = bpf_program__fd(programs.arena_free_pages),
                                      .shrink = bpf_program__fd(programs.arena_shrink),
                                      .sweep = bpf_program__fd(programs.arena_sweep)},
                                     plan.arena_pages, *maps.state));
  wakeups = HAWK_TRY(open_wakeups(bpf_map__fd(skeleton->maps.wakeups)));
  return {};
}

Result<void> Engine::Parts::open_reserve(const hawktrace& made) {
  reserve = HAWK_TRY(BlockReserve::make({.maps_fd = bpf_map__fd(made.maps.reserve_maps),
                                         .wakeups_fd = bpf_map__fd(made.maps.reserve_wakeups),
                                         .state = maps.state},
                                        plan.reserve_blocks));
  return {};
}

Result<void> Engine::Parts::open_frames(const hawktrace& made) {
  frames = HAWK_TRY(FrameStore::make({.segments_fd = bpf_map__fd(made.maps.frame_segments),
                                      .wakeups_fd = bpf_map__fd(made.maps.frame_wakeups),
                                      .state = maps.state},
                                     plan.frames, plan.spare_frames));
  maps.frames = [store = frames.get()](std::uint64_t first, std::uint32_t count) {
    return store->frames(first, count);
  };
  return {};
}

Result<void> Engine::Parts::attach_tracepoints() {
  const auto& programs = skeleton->progs;
  HAWK_TRY_VOID(attach_tracepoint(options.holds ? programs.process_fork_holding : programs.process_fork));
  HAWK_TRY_VOID(attach_tracepoint(options.holds ? programs.process_exec_holding : programs.process_exec));
  HAWK_TRY_VOID(attach_tracepoint(programs.thread_exit));
  HAWK_TRY_VOID(watch_mappings());
  for (bpf_program* program : {programs.prepare_exec, programs.memory_left_by_exit, programs.memory_left_by_exec,
                               programs.region_entered, programs.regions_unlocked}) {
    if (bpf_program__fd(program) >= 0) HAWK_TRY_VOID(attach_tracepoint(program));
  }
  return {};
}

Result<void> Engine::Parts::watch_mappings() {
  const auto& programs = skeleton->progs;
  if (options.programs_on_functions)
    return attach_tracepoint(options.holds ? programs.mapping_made_holding : programs.mapping_made);
  log_verbose("the kernel does not allow programs on its functions: mappings are reported by tracepoints");
  HAWK_TRY_VOID(attach_tracepoint(options.holds ? programs.tree_entry_holding : programs.tree_entry));
  return attach_tracepoint(programs.mappings_unlocked);
}

Result<void> Engine::Parts::watch_signals_for(const std::vector<YieldProbe>& points) {
  const auto is_ahead = [](const YieldProbe& probe) { return probe.point.role == HAWK_YIELDS_AHEAD; };
  if (watches_signals || std::none_of(points.begin(), points.end(), is_ahead)) return {};
  HAWK_TRY_VOID(later.require(skeleton->progs.signal_delivered));
  HAWK_TRY_VOID(attach_tracepoint(skeleton->progs.signal_delivered));
  watches_signals = true;
  return {};
}

Result<void> Engine::Parts::attach_tracepoint(bpf_program* program) {
  UniqueFd fd(bpf_raw_tracepoint_open(nullptr, bpf_program__fd(program)));
  if (!fd) {
    return system_failure(ExitCode::kPrivilege, fmt::format("attach {} to its tracepoint", bpf_program__name(program)),
                          errno);
  }
  tracepoints.push_back(std::move(fd));
  passed_over.watch(bpf_program__fd(program), bpf_program__name(program));
  return {};
}

Result<hawktrace*> Engine::Parts::programs_for_throwing() {
  if (options.way != AttachWay::kSession) return skeleton.get();
  if (!throwing) throwing = HAWK_TRY(load_throwing_programs(*skeleton));
  return throwing.get();
}

Result<hawktrace*> Engine::Parts::programs_for_returning() {
  if (options.way != AttachWay::kSession || !options.by_plan) return skeleton.get();
  if (!session) session = HAWK_TRY(load_session_program(*skeleton));
  return session.get();
}

Result<void> Engine::Parts::begin_following() {
  if (!file_links) inherited_probes = HAWK_TRY(InheritedProbes::make(bpf_map__fd(skeleton->maps.probe_cookies)));
  return places->fill_spares();
}

void add_holds(Tracer::Holds& sum, const hawk_target& target) {
  sum.count += __atomic_load_n(&target.holds, __ATOMIC_RELAXED);
  sum.total_ns += __atomic_load_n(&target.held_ns, __ATOMIC_RELAXED);
  sum.longest_ns = std::max<std::uint64_t>(sum.longest_ns, __atomic_load_n(&target.longest_hold_ns, __ATOMIC_RELAXED));
}

void Engine::Parts::report_holds() const {
  Tracer::Holds all = holds;
  for (std::uint32_t number = 0; number < maps.targets.size(); ++number) {
    if (places->is_taken(number)) add_holds(all, maps.targets[number]);
  }
  if (all.count == 0) return;
  log_info(
      fmt::format("threads waited for hawktrace {} time{}, {} ms in total and {} ms at most, until new files were "
                  "probed or there was room for more processes",
                  all.count, all.count == 1 ? "" : "s", all.total_ns / 1000000, all.longest_ns / 1000000));
}

void Engine::Parts::keep_spares() {
  const Result<void> filled = places->fill_spares();
  if (!filled) log_verbose(fmt::format("keep targets for child processes: {}", filled.error().what));
}

void Engine::Parts::count_passed_over() {
  const std::uint64_t times = passed_over.take();
  if (times == 0) return;
  for (std::uint32_t number = 0; number < maps.targets.size(); ++number) {
    if (places->is_taken(number))
      __atomic_fetch_add(&maps.targets[number].losses[HAWK_LOSS_PASSED_OVER], times, __ATOMIC_RELAXED);
  }
}

LiveBlocks Engine::Parts::live_blocks() const {
  LiveBlocks blocks;
  if (reserve) blocks.hash_fds = reserve->map_fds();
  blocks.hash_fds.push_back(bpf_map__fd(skeleton->maps.live_blocks));
  if (arena) blocks.arena = arena->live_pages();
  return blocks;
}

/// Only hash maps whose entries are made when they are needed take more or less from drain to drain.
std::uint64_t Engine::Parts::map_bytes() {
  std::uint64_t bytes = segments_memory.bytes(code_tables().map_fds());
  if (reserve) bytes += reserve_memory.bytes(reserve->map_fds());
  std::vector<int> fixed;
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, skeleton->obj) {
    if (!bpf_map__autocreate(map)) continue;
    if (bpf_map__type(map) == BPF_MAP_TYPE_HASH && (bpf_map__map_flags(map) & BPF_F_NO_PREALLOC) != 0) {
      bytes += map_memory_bytes(bpf_map__fd(map)).value_or(0);
    } else {
      fixed.push_back(bpf_map__fd(map));
    }
  }
  return bytes + fixed_memory.bytes(fixed);
}

bool Engine::Parts::has_loaded(const bpf_program* program) {
  const Result<void> loaded = later.require(program);
  if (!loaded) log_verbose(loaded.error().what);
  return loaded.has_value();
}

void Engine::Parts::drop_ended_blocks() {
  const std::uint32_t ended = __atomic_load_n(&maps.state->programs_ended, __ATOMIC_SEQ_CST);
  if (ended == std::exchange(programs_swept, ended)) return;
  if (arena && has_loaded(skeleton->progs.arena_sweep)) arena->sweep();
  const auto runs = [&](std::uint32_t program) {
    return __atomic_load_n(&maps.targets[program & HAWK_TARGET_MASK].program, __ATOMIC_SEQ_CST) == program;
  };
  const auto forget = [&](const hawk_block_key& key) {
    __u32& cell = skeleton->bss->overflow_blocks[hawk_overflow_cell(hawk_live_hash(key.address, key.program))];
    if (arena) __atomic_fetch_sub(&cell, 1, __ATOMIC_RELAXED);
  };
  for (const int fd : live_blocks().hash_fds) {
    const Result<void> dropped = drop_blocks_of_ended(fd, runs, forget);
    if (!dropped) log_warning(dropped.error().what);
  }
  reuse_ended_places();
}

/// A block that a program moves within its bucket while the table is swept can be passed over: it is looked whether any
/// is left, and then there will be another sweep.
void Engine::Parts::reuse_ended_places() {
  std::set<std::uint32_t> ended = places->ended();
  const Result<std::set<std::uint32_t>> left = programs_with_blocks(live_blocks(), maps, ended);
  if (!left || !left->empty()) programs_swept = ~std::uint32_t{0};
  if (!left) return log_verbose(left.error().what);
  std::erase_if(ended, [&](std::uint32_t program) { return left->contains(program); });
  drain.count_from_zero(maps, ended);
  lives.count_from_zero(maps, ended);
  places->reuse(ended);
}

}  // namespace hawk

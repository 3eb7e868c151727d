#include "userspace/tracer/engine.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/threads.h"
#include "userspace/tracer/engine_parts.h"
#include "userspace/tracer/uprobe_events.h"

namespace hawk {

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::make(const EngineOptions& options, const KernelTypes& types) {
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  Result<void> loaded = parts->load(options.live_table.value_or(LiveTable::kArena), types);
  if (!loaded && !options.live_table && loaded.error().exit_code == ExitCode::kPrivilege) {
    log_verbose("the live table cannot be an arena on this kernel: a hash map is used");
    loaded = parts->load(LiveTable::kHash, types);
  }
  HAWK_TRY_VOID(loaded);
  if (parts->table == LiveTable::kArena && !options.kernel_preempts)
    log_verbose("the kernel does not preempt itself: that is not switched off for updates of the live table");
  HAWK_TRY_VOID(parts->open_maps());
  HAWK_TRY_VOID(parts->attach_tracepoints());
  if (options.links == LinkScope::kFile) parts->file_links.emplace();
  if (options.follows_children) HAWK_TRY_VOID(parts->begin_following());
  parts->stack_room = StackRoom(parts->maps.state->next_stack);
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

MappingEvents::Source Engine::mapping_events() const {
  return {.ring_fd = bpf_map__fd(parts_->skeleton->maps.mapping_events),
          .lost = &parts_->maps.state->mapping_events_lost,
          .has_births = parts_->options.follows_children};
}

int Engine::region_ring_fd() const { return bpf_map__fd(parts_->skeleton->maps.region_events); }

std::vector<NewStack> Engine::read_stacks(std::span<const StackId> stacks) const {
  std::vector<NewStack> read;
  for (const StackId id : stacks) read.push_back(read_stack(parts_->maps, static_cast<std::uint32_t>(id), id));
  return read;
}

int Engine::wakeup_fd() const { return parts_->wakeups ? ring_buffer__epoll_fd(parts_->wakeups.get()) : -1; }

void Engine::adjust_memory() {
  Parts& parts = *parts_;
  if (parts.frames->thread().is_refused_memory() && !std::exchange(parts.frames_refused, true))
    log_warning("the kernel has no memory for more frames: stacks that do not fit are counted as lost");
  if (parts.reserve && parts.reserve->thread().is_refused_memory() && !std::exchange(parts.reserve_refused, true))
    log_warning("the kernel has no memory for more blocks: those that do not fit are counted as lost");
  if (!parts.arena) return;
  ring_buffer__consume(parts.wakeups.get());
  const bool can_shrink = parts.arena->has_grown() && parts.has_loaded(parts.skeleton->progs.arena_shrink);
  if (parts.arena->adjust_pages(can_shrink) || std::exchange(parts.memory_refused, true)) return;
  log_warning("the kernel has no memory for more pages of the live table: blocks that do not fit are counted as lost");
}

std::uint64_t Engine::table_bytes() const {
  // Segments of frames have no descriptor left once they are mapped.
  const std::uint64_t frames = __atomic_load_n(&parts_->maps.state->frames_ready, __ATOMIC_ACQUIRE);
  return parts_->map_bytes() + frames * sizeof(__u32) + (parts_->arena ? parts_->arena->resident_bytes() : 0);
}

bool Engine::is_filling_up() {
  return parts_->yield_points->is_half_taken() || parts_->stack_room.is_half_taken(parts_->maps, parts_->plan.frames);
}

Result<void> Engine::reserve_unwind_rows(std::uint64_t rows) { return parts_->code_tables().reserve_rows(rows); }

Result<std::optional<AddedRows>> Engine::add_unwind_rows(std::span<const hawk_row> rows) {
  return parts_->code_tables().add_rows(rows);
}

void Engine::remove_unwind_rows(std::uint32_t first) { parts_->code_tables().remove_rows(first); }

void Engine::set_unwind_rules(std::span<const hawk_rule> rules) { parts_->code_tables().set_rules(rules); }

void Engine::add_file_part(const hawk_file_part& part, const hawk_code_range& code) {
  parts_->code_tables().add_file_part(part, code);
}

void Engine::remove_file_part(const hawk_file_part& part) { parts_->code_tables().remove_file_part(part); }

std::uint32_t Engine::processes_begun() const {
  return __atomic_load_n(&parts_->maps.state->processes_begun, __ATOMIC_RELAXED);
}

Result<void> Engine::extend_probes_to_all() {
  return parts_->inherited_probes ? parts_->inherited_probes->extend_to_all() : Result<void>{};
}

std::size_t Engine::target_count() const { return parts_->places->taken_count(); }

LiveTable Engine::live_table() const { return parts_->table; }
std::uint64_t Engine::min_block_bytes() const { return parts_->options.min_block_bytes; }

std::vector<Birth> Engine::take_births() {
  std::vector<Birth> births = parts_->places->take_births();
  if (!births.empty()) parts_->keep_spares();
  return births;
}

std::vector<Drained> Engine::drain() {
  parts_->count_passed_over();
  std::vector<Drained> drained =
      parts_->drain.read(parts_->maps, [&](std::uint32_t number) { return parts_->places->is_taken(number); });
  parts_->drop_ended_blocks();
  parts_->copied_probes.remove(parts_->remover);
  if (parts_->inherited_probes) parts_->inherited_probes->remove_unused();
  if (parts_->options.follows_children) parts_->keep_spares();
  return drained;
}

void Engine::give_back(std::uint32_t target, std::vector<StackCounters> counters) {
  parts_->drain.give_back(target, std::move(counters));
}

/// A block that is moved as the table grows can be met twice, or not at all: what was read while it grew is read again.
Result<std::vector<TargetLives>> Engine::read_lives(const BirthCuts& cuts) {
  constexpr int kAttempts = 3;
  std::vector<TargetLives> lives;
  for (int i = 0; i < kAttempts; ++i) {
    const LiveBlocks blocks = parts_->live_blocks();
    lives = HAWK_TRY(parts_->lives.read(blocks, parts_->maps, cuts));
    if (parts_->live_blocks().arena.size() == blocks.arena.size()) break;
  }
  return lives;
}

void Engine::set_clock(std::uint32_t stamp) { __atomic_store_n(&parts_->maps.state->clock, stamp, __ATOMIC_RELEASE); }

void Engine::stop() {
  __atomic_store_n(&parts_->maps.state->enabled, 0, __ATOMIC_SEQ_CST);
  // They count nothing more. To close all of them takes more than a millisecond, in which what was counted is read.
  parts_->closing = try_thread([links = std::exchange(parts_->tracepoints, {})]() mutable { links.clear(); });
  parts_->remover.wait();
  if (parts_->inherited_probes) {
    parts_->inherited_probes->remove_all();
  } else {
    remove_orphaned_events();
  }
  if (parts_->file_links) parts_->file_links->remove_all();
  parts_->report_holds();
  parts_->frames->thread().end();
  log_verbose(fmt::format("frames: {} stored; the free room never fell below {}", parts_->maps.state->next_frame,
                          parts_->frames->least_room()));
  if (!parts_->reserve) return;
  log_verbose(fmt::format("blocks in reserve: at most {} in use", parts_->reserve->room_used()));
}

}  // namespace hawk

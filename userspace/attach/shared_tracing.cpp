#include "userspace/attach/shared_tracing.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "userspace/attach/environment.h"
#include "userspace/attach/file_users.h"
#include "userspace/base/log.h"
#include "userspace/base/threads.h"
#include "userspace/process/own_code.h"
#include "userspace/process/process.h"
#include "userspace/tables/attach_text.h"

namespace hawk {
namespace {

hawk_unwind kernel_unwind(UnwindMethod method) {
  switch (method) {
    case UnwindMethod::kCfi:
      return HAWK_UNWIND_CFI;
    case UnwindMethod::kFramePointers:
      return HAWK_UNWIND_FP;
    case UnwindMethod::kAuto:
      break;
  }
  return HAWK_UNWIND_AUTO;
}

/// Whether probes may be made for all processes that map a file, this one and its workers too.
bool may_link_files(const TraceConfig& config) {
  return config.links ? config.links == LinkScope::kFile : config.first_processes.size() >= 2;
}

Result<std::optional<ProbeCosts>> costs_here(AttachWay way, std::jthread& detaching) {
  // Detaching perf events takes the kernel several times as long.
  if (way == AttachWay::kPerf && verbosity() != Verbosity::kVerbose) return std::nullopt;
  // The probed process is this one, and must outlive it.
  const ProcessInfo own = HAWK_TRY(inspect_process(::getpid()));
  HAWK_TRY_VOID(check_seccomp(kernel_release(), own.seccomp_mode));
  const ProbeCosts costs = HAWK_TRY(measure_probe_costs(way, detaching));
  return costs;
}

}  // namespace

SharedTracing::SharedTracing(const TraceConfig& config)
    : config_(config),
      is_by_plan_(config.attach_via.value_or(AttachWay::kPoints) == AttachWay::kPoints),
      began_(config.clock_began.value_or(std::chrono::steady_clock::now())) {
  // The worker is started with this.
  if (may_link_files(config)) move_own_code();
  files_.start();
}

FileWants SharedTracing::wants() const {
  const Plans plans = config_.follows_regions ? Plans::kMadeForMappings : Plans::kMade;
  return {.code = true,
          .plans = is_by_plan_ ? plans : Plans::kNone,
          .table = config_.unwind != UnwindMethod::kFramePointers};
}

Result<AttachWay> SharedTracing::choose_way() const {
  if (links_ == LinkScope::kFile) return AttachWay::kSession;
  // Only they pass on to the processes that a process makes.
  if (config_.follows_children) return AttachWay::kPerf;
  const std::optional<AttachWay> forced = is_by_plan_ ? std::nullopt : config_.attach_via;
  return choose_attach_way(features_, forced, config_.several);
}

std::unique_ptr<ReadAhead> SharedTracing::begin_reading_ahead(std::vector<ReadAhead::Source> files) {
  constexpr std::size_t kMostKeys = 1024;
  if (read_ahead_.size() >= kMostKeys) read_ahead_.clear();
  std::erase_if(files, [&](const ReadAhead::Source& file) { return !read_ahead_.insert(file.key).second; });
  if (files.empty()) return nullptr;
  const std::size_t workers = ReadAhead::workers_for(files);
  return std::make_unique<ReadAhead>(std::move(files), wants(), files_, workers);
}

/// If following is only the default and the kernel cannot do it, the trace goes on without and a line says so.
void SharedTracing::settle_following() {
  if (!config_.follows_children || !config_.may_do_without_children || links_ == LinkScope::kFile) return;
  const Result<void> possible = require_inheritance(features_);
  if (possible) return;
  config_.follows_children = config_.holds = false;
  log_info(fmt::format("child processes are counted, but not followed: {}", possible.error().what));
}

/// Without sessions the others would have their return addresses replaced, and pay for two traps a call.
Result<LinkScope> SharedTracing::choose_scope() {
  const bool has_sessions = features_.uprobe_session && (is_by_plan_ || config_.attach_via == AttachWay::kSession);
  if (!has_sessions && config_.links == LinkScope::kFile) {
    return fail(ExitCode::kPrivilege, "make links for all processes that map a file: this requires uprobe sessions",
                features_.uprobe_session ? "leave --attach-via out" : "sessions need Linux 6.13: leave --links out");
  }
  if (!has_sessions || !may_link_files(config_)) return LinkScope::kProcess;
  return config_.links ? *config_.links : scope_for(config_.first_processes, kCostsOfSessions, {});
}

LinkScope SharedTracing::scope_for(std::span<const int> targets, const LinkCosts& costs,
                                   const std::set<MappedFile>& files) {
  const FileUsers users = count_file_users(targets, costs, files);
  const LinkScope scope = choose_links(users, costs);
  log_verbose(fmt::format("one link per {}: {} processes share a file that {} others map", link_scope_name(scope),
                          users.targets, users.others));
  return scope;
}

bool SharedTracing::should_choose_scope(std::size_t targets) {
  if (config_.links || links_ == LinkScope::kFile || !config_.follows_children || extended_) return false;
  const std::size_t lasting = std::min(targets, std::exchange(targets_before_, targets));
  if (!should_choose_again(lasting, targets_then_)) return false;
  targets_then_ = lasting;
  return true;
}

bool SharedTracing::should_extend_probes(std::span<const int> targets, const std::set<MappedFile>& files) {
  return scope_for(targets, kCostsOfInherited, files) == LinkScope::kFile;
}

void SharedTracing::extend_probes() {
  move_own_code();
  const Result<void> extended = engine_->extend_probes_to_all();
  extended_ = extended.has_value();
  if (!extended) log_verbose(extended.error().what);
}

Result<void> SharedTracing::load() {
  if (engine_) return {};
  const KernelTypes types;
  features_ = HAWK_TRY(probe_kernel_features(types));
  links_ = HAWK_TRY(choose_scope());
  settle_following();
  way_ = HAWK_TRY(choose_way());
  if (!config_.attach_via) is_by_plan_ = should_follow_plans(way_, config_.follows_children);
  // Most of it is waiting for the kernel's grace periods, which nobody who detaches should have to do.
  measuring_costs_ = try_thread([this] { measured_costs_ = costs_here(way_, detaching_costs_); });
  if (config_.holds && !features_.holds) {
    log_info(
        "this kernel cannot hold threads (Linux 6.18 and newer can): an allocator that a new program maps is probed a "
        "moment later, and what is missed is counted");
  }
  std::unique_ptr<Engine> engine =
      HAWK_TRY(Engine::make({.way = way_,
                             .by_plan = is_by_plan_,
                             .links = links_,
                             .follows_children = config_.follows_children,
                             .holds = config_.holds && features_.holds,
                             .returns_are_calls = returns_are_system_calls(kernel_release()),
                             .live_table = config_.live_table,
                             .memory = {.max_blocks = config_.max_blocks,
                                        .max_stacks = config_.max_stacks,
                                        .max_depth = config_.stack_depth,
                                        .counts_lives = config_.by_thread || config_.histograms,
                                        .follows_regions = config_.follows_regions,
                                        .max_memory_bytes = config_.max_memory_bytes},
                             .min_block_bytes = config_.min_block_bytes,
                             .max_depth = config_.stack_depth,
                             .unwind = kernel_unwind(config_.unwind),
                             .follows_regions = config_.follows_regions,
                             .by_thread = config_.by_thread,
                             .histograms = config_.histograms,
                             .programs_on_functions = features_.programs_on_functions,
                             .kernel_preempts = features_.preempts_itself},
                            types));
  if (config_.follows_regions) region_feed_ = HAWK_TRY(RegionFeed::make(engine->region_ring_fd()));
  mapping_events_ = HAWK_TRY(MappingEvents::make(engine->mapping_events()));
  engine_ = std::move(engine);
  unwinding_.emplace(*engine_);
  return {};
}

std::string SharedTracing::reported_attachment() const {
  const std::string_view way = attach_way_name(is_by_plan_ ? AttachWay::kPoints : way_);
  return fmt::format("{}{}", way, links_ == LinkScope::kFile || extended_ ? kForFiles : "");
}

TraceLimits SharedTracing::limits() const {
  const std::uint64_t default_blocks = engine_->live_table() == LiveTable::kArena ? kMaxBlocks : 0;
  return {.may_raise_blocks = config_.max_blocks.value_or(default_blocks) < kMaxBlocks,
          .may_raise_stacks = config_.max_stacks < kMaxStacks,
          .may_raise_depth = config_.stack_depth < kMaxStackDepth,
          .has_max_memory = config_.max_memory_bytes.has_value()};
}

Result<Tracer> SharedTracing::make_tracer(int pid, bool main_thread_lives) {
  if (links_ == LinkScope::kFile) return Tracer::make(*engine_, pid, false);
  const bool is_filtered = main_thread_lives && (features_.pid_filter || way_ == AttachWay::kPerf);
  const bool is_alone = engine_->target_count() == 0;
  if (!is_alone && (!is_filtered || has_unfiltered_)) {
    return fail(ExitCode::kPrivilege,
                fmt::format("trace process {} together with others: the kernel cannot restrict {} probes to it", pid,
                            is_filtered ? "another one's" : "its"),
                "trace it with a separate hawktrace");
  }
  Tracer tracer = HAWK_TRY(Tracer::make(*engine_, pid, is_filtered));
  has_unfiltered_ = !is_filtered;
  return tracer;
}

void SharedTracing::begin_reading(ConfinedSymbolizer& reader, std::vector<ModuleId> modules) {
  use_symbolizer(reader);
  // That of the files is idle, and to start another takes as long as much of the reading. With several targets the
  // names of one could come from a worker that the files of another have damaged.
  if (!config_.several && !config_.follows_children) reader.start_with(files_.release_worker());
  reader.start();
  reading_symbols_ = try_thread([&reader, modules = std::move(modules)] { reader.read(modules); });
}

void SharedTracing::forget_symbolizer(ConfinedSymbolizer& forgotten) {
  reading_symbols_ = {};
  std::erase(symbolizers_, &forgotten);
  std::unique_ptr<WorkerProcess> worker = forgotten.release_worker();
  if (!worker) return;
  worker->begin_end();
  ending_worker_ = std::move(worker);
}

void SharedTracing::use_symbolizer(ConfinedSymbolizer& used) {
  reading_symbols_ = {};
  constexpr std::size_t kMostWorkers = 4;
  std::erase(symbolizers_, &used);
  symbolizers_.push_back(&used);
  if (symbolizers_.size() <= kMostWorkers) return;
  symbolizers_.front()->rest();
  symbolizers_.erase(symbolizers_.begin());
}

const std::optional<ProbeCosts>& SharedTracing::costs() {
  if (costs_) return *costs_;
  measuring_costs_ = {};
  if (!measured_costs_) measured_costs_ = costs_here(way_, detaching_costs_);
  if (!*measured_costs_) log_verbose(measured_costs_->error().what);
  return costs_.emplace(measured_costs_->value_or(std::nullopt));
}

}  // namespace hawk

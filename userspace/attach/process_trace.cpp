#include "userspace/attach/process_trace.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "userspace/attach/environment.h"
#include "userspace/attach/module_locator.h"
#include "userspace/attach/process_status.h"
#include "userspace/base/log.h"
#include "userspace/base/process_file.h"
#include "userspace/base/threads.h"
#include "userspace/process/process.h"
#include "userspace/tracer/features.h"

namespace hawk {
namespace {

/// TASK_COMM_LEN - 1, include/linux/sched.h.
constexpr std::size_t kCommLength = 15;

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

TraceLimits limits_of(const TraceConfig& config, LiveTable table) {
  const std::uint64_t default_blocks = table == LiveTable::kArena ? kMaxBlocks : 0;
  return {.may_raise_blocks = config.max_blocks.value_or(default_blocks) < kMaxBlocks,
          .may_raise_stacks = config.max_stacks < kMaxStacks,
          .may_raise_depth = config.stack_depth < kMaxStackDepth,
          .has_max_memory = config.max_memory_bytes.has_value()};
}

std::string kernel_release() {
  utsname names;
  return ::uname(&names) == 0 ? names.release : "";
}

/// What traps cost on this machine; nullopt: not measured.
Result<std::optional<ProbeCosts>> costs_here(AttachWay way) {
  // Detaching perf events takes the kernel several times as long.
  if (way == AttachWay::kPerf && verbosity() != Verbosity::kVerbose) return std::nullopt;
  // The probed process is this one, and must outlive it.
  const ProcessInfo own = HAWK_TRY(inspect_process(::getpid()));
  HAWK_TRY_VOID(check_seccomp(kernel_release(), own.seccomp_mode));
  const ProbeCosts costs = HAWK_TRY(measure_probe_costs(way));
  return costs;
}

}  // namespace

ProcessTrace::ProcessTrace(Subject subject, UniqueFd pid_fd, Probes probes, UnwindMethod unwind,
                           std::unique_ptr<Engine> engine, Tracer tracer, MappingEvents mapping_events,
                           std::unique_ptr<FileReader> files)
    : subject_(std::move(subject)),
      pid_fd_(std::move(pid_fd)),
      probes_(probes),
      unwind_(unwind),
      engine_(std::move(engine)),
      tracer_(std::move(tracer)),
      mapping_events_(std::move(mapping_events)),
      probing_(subject_.proc_pid, tracer_, unwind != UnwindMethod::kFramePointers, std::move(files)),
      threads_(fmt::format("/proc/{}", subject_.target.pid)),
      meter_(subject_.proc_pid),
      perf_map_(subject_.proc_pid) {}

Result<ProcessTrace::Subject> ProcessTrace::subject_of(const TraceConfig& config, const LaunchedCommand* command) {
  Subject subject;
  TargetInfo& target = subject.target;
  if (command != nullptr) {
    subject.expected_files = HAWK_TRY(files_of_command(config.command));
    target.pid = subject.proc_pid = command->pid();
    target.exe = subject.expected_files.front();
    target.comm = target.exe.substr(target.exe.rfind('/') + 1, kCommLength);
    subject.own_execs = 1;
  } else {
    const ProcessInfo process = HAWK_TRY(inspect_process(*config.pid));
    HAWK_TRY_VOID(check_seccomp(kernel_release(), process.seccomp_mode));
    target.pid = process.pid;
    target.comm = process.comm;
    target.exe = process.exe;
    subject.proc_pid = process.living_tid;
    subject.main_thread_lives = !process.main_thread_exited;
  }
  return subject;
}

Result<void> ProcessTrace::name_program(TargetInfo& target) {
  const ProcessInfo process = HAWK_TRY(inspect_process(target.pid));
  target.comm = process.comm;
  target.exe = process.exe;
  return {};
}

std::vector<ReadAhead::Source> ProcessTrace::files_to_read(const Subject& subject, bool is_command) {
  if (is_command) return ReadAhead::sources_of(subject.expected_files);
  const Result<std::vector<Mapping>> mappings = read_mappings(subject.target.pid);
  if (!mappings) return {};  // the error is reported where they are needed
  return ReadAhead::sources_of(subject.proc_pid, *mappings);
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::make(const TraceConfig& config, LaunchedCommand* command) {
  ProcessHandle process(command != nullptr ? command->pid() : *config.pid);
  Subject subject = HAWK_TRY(subject_of(config, command));
  const int pid = subject.target.pid;
  HAWK_TRY_VOID(process.require_same());
  auto files = std::make_unique<FileReader>();
  files->start();
  constexpr std::size_t kWorkers = 2;
  const bool by_plan = config.attach_via == AttachWay::kPoints;
  const FileWants wants = {.code = true, .plans = by_plan, .table = config.unwind != UnwindMethod::kFramePointers};
  auto reading = std::make_unique<ReadAhead>(files_to_read(subject, command != nullptr), wants, *files, kWorkers);
  const KernelFeatures features = HAWK_TRY(probe_kernel_features());
  const AttachWay way = HAWK_TRY(choose_attach_way(features, by_plan ? std::nullopt : config.attach_via));
  // A multi link's pid filter goes by the main thread's memory, which an exited main thread no longer has.
  const bool filter_by_pid = subject.main_thread_lives && (features.pid_filter || way == AttachWay::kPerf);
  std::unique_ptr<Engine> engine =
      HAWK_TRY(Engine::make({.way = way,
                             .by_plan = by_plan,
                             .returns_are_calls = returns_are_system_calls(kernel_release()),
                             .live_table = config.live_table,
                             .memory = {.max_blocks = config.max_blocks,
                                        .max_stacks = config.max_stacks,
                                        .max_depth = config.stack_depth,
                                        .max_memory_bytes = config.max_memory_bytes},
                             .min_block_bytes = config.min_block_bytes,
                             .max_depth = config.stack_depth,
                             .unwind = kernel_unwind(config.unwind),
                             .programs_on_functions = features.programs_on_functions}));
  // Before the list of mappings is read, so that none falls in between.
  MappingEvents mapping_events = HAWK_TRY(MappingEvents::make(engine->mapping_events()));
  mapping_events.follow(pid);
  Tracer tracer = HAWK_TRY(Tracer::make(*engine, pid, filter_by_pid));
  // Another program that began before is not announced.
  if (command == nullptr) HAWK_TRY_VOID(name_program(subject.target));
  std::unique_ptr<ProcessTrace> trace(
      new ProcessTrace(std::move(subject), process.take_fd(), {.way = way, .by_plan = by_plan}, config.unwind,
                       std::move(engine), std::move(tracer), std::move(mapping_events), std::move(files)));
  trace->interval_ = config.interval;
  trace->limits_ = limits_of(config, trace->engine_->live_table());
  trace->probing_.use(std::move(reading));
  HAWK_TRY_VOID(command != nullptr ? trace->probing_.expect_files(trace->subject_.expected_files)
                                   : trace->probe_running_process());
  trace->probing_.check_breakpoints_in_time();
  return trace;
}

/// A process that is just being replaced by another program has not mapped all of it yet, and may be replaced again.
Result<void> ProcessTrace::probe_running_process() {
  constexpr int kTries = 500;
  constexpr int kTriesUnchanged = 50;
  constexpr int kWaitMs = 10;
  std::vector<Mapping> before;
  for (int i = 0, unchanged = 0; i < kTries && unchanged < kTriesUnchanged; ++i) {
    const std::vector<Mapping> mappings = HAWK_TRY(read_mappings(pid()));
    HAWK_TRY_VOID(probing_.take_mappings(mappings));
    if (probing_.found_allocator()) return {};
    unchanged = mappings == before ? unchanged + 1 : 0;
    before = mappings;
    pollfd ended = {.fd = pid_fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&ended, 1, kWaitMs) > 0) break;
  }
  if (probing_.refusal()) return tl::unexpected<Error>(*probing_.refusal());
  return fail(ExitCode::kPrivilege, no_allocator_text(),
              std::string(no_allocator_hint(probing_.is_go(subject_.target.exe))));
}

std::string ProcessTrace::no_allocator_text() const {
  return fmt::format(
      "find the allocator of process {}: no file that it has mapped defines malloc or another allocator function",
      pid());
}

void ProcessTrace::begin() {
  probing_.tracing_began();
  meter_.begin(subject_.own_execs != 0);
  start_wall_ = std::chrono::system_clock::now();
  start_ = closed_at_ = std::chrono::steady_clock::now();
  tracer_.enable();
  // A command is still this program's child.
  if (subject_.own_execs == 0) threads_.read(0);
}

std::chrono::nanoseconds ProcessTrace::elapsed() const {
  return is_probed() ? std::chrono::steady_clock::now() - start_ : duration_;
}

void ProcessTrace::take_mappings_again() {
  const Result<std::vector<Mapping>> mappings = read_mappings(pid());
  if (!mappings || mappings->empty()) return;  // the target has ended: what is known stays
  const Result<void> taken = probing_.take_mappings(*mappings);
  if (!taken) log_warning(taken.error().what);
}

/// Those of a process that loads and unloads files without end would fill the table of descriptors, and those that have
/// been deleted the disk.
void ProcessTrace::close_unmapped_files() {
  constexpr std::size_t kOpened = 32;
  constexpr std::chrono::seconds kOften{60};
  const auto now = std::chrono::steady_clock::now();
  if (probing_.opened_since_closing() < kOpened && now - closed_at_ < kOften) return;
  closed_at_ = now;
  take_mappings_again();
  for (const ModuleId id : probing_.close_unmapped()) symbolizer_.close_files(id);
}

void ProcessTrace::take_mapping_events() {
  const MappingChanges changes = mapping_events_.take(pid());
  if (changes.last_exec) {
    subject_.target.comm = changes.last_exec->comm;
    if (!changes.last_exec->path.empty()) subject_.target.exe = changes.last_exec->path;
  }
  probing_.take_new_mappings(changes.mapped, !changes.last_exec);
  // What was read until now may be the list of the process that was to become the command. It is not read again: that
  // would leave walks without rules for a moment.
  if (changes.last_exec) {
    probing_.program_began(changes.of_last_program(), changes.execs == 1);
    exec_was_told_ = true;
  }
  if (changes.read_all) take_mappings_again();
  if (is_probed()) probing_.check_breakpoints_in_time();
}

void ProcessTrace::read_memory() {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", subject_.proc_pid));
  std::optional<ProcessMemory> memory = status ? memory_in_status(*status) : std::nullopt;
  if (!memory) return;  // it has ended: what it took before stays
  memory->live_bytes = model_.live_bytes();
  memory_ = memory;
}

void ProcessTrace::drain() {
  engine_->adjust_memory();
  const auto began = std::chrono::steady_clock::now();
  const Drained drained = engine_->drain()[tracer_.number()];
  longest_drain_ = std::max<std::chrono::nanoseconds>(longest_drain_, std::chrono::steady_clock::now() - began);
  const bool has_exec = drained.exec_epoch != model_.exec_epoch();
  const bool is_told = has_exec && std::exchange(exec_was_told_, false);
  const bool is_replaced = has_exec && drained.exec_epoch > subject_.own_execs;
  if (is_replaced) probing_.program_replaced(is_told);
  // After the maps: the mapping of every stack in them has been announced by then.
  take_mapping_events();
  model_.update(drained, [this](std::uint64_t address) { return probing_.frame_at(address); });
  // What the target says of its code may be gone with it.
  if (probing_.has_frames_in_no_file()) perf_map_.refresh(symbolizer_);
  read_memory();
  threads_.read(static_cast<std::uint64_t>(elapsed().count()));
  usage_ = meter_.read(engine_->table_bytes());
  // What is unmapped is not announced. After the stacks, whose frames may lie there.
  if (is_replaced || (is_probed() && tracer_.code_ranges_are_stale())) take_mappings_again();
  if (!is_probed()) return;
  close_unmapped_files();
  probing_.check_breakpoints_in_time();
}

/// Nearly every stack passes through the program's own file and that of its allocator, which is libc's as a rule: to
/// read their debug information takes as long as the kernel's grace periods, for which detaching waits.
void ProcessTrace::begin_reading_symbols() {
  if (!tracer_.has_stacks()) return;
  const std::vector<Allocator>& allocators = probing_.allocators();
  std::set<ModuleId> wanted;
  for (const MappedCode& code : probing_.modules().code()) {
    const std::string& path = probing_.modules().module(code.module).path;
    const bool has_allocator = std::any_of(allocators.begin(), allocators.end(),
                                           [&](const Allocator& allocator) { return allocator.path == path; });
    if (has_allocator || path == subject_.target.exe) wanted.insert(code.module);
  }
  for (const ModuleId id : wanted) symbolize(id);
  symbolizer_.start();
  reading_symbols_ =
      try_thread([this, modules = std::vector<ModuleId>(wanted.begin(), wanted.end())] { symbolizer_.read(modules); });
}

Result<void> ProcessTrace::end(bool verify, bool reads_symbols) {
  take_mapping_events();
  probing_.check_breakpoints();
  const auto stopped = std::chrono::steady_clock::now();
  duration_ = stopped - start_;
  if (reads_symbols) begin_reading_symbols();
  // Side by side with detaching: both wait for the kernel's grace periods.
  Result<std::optional<ProbeCosts>> costs;
  std::jthread measuring = try_thread([&] { costs = costs_here(probes_.way); });
  tracer_.stop();
  engine_->stop();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - stopped;
  if (measuring.joinable()) measuring.join();
  log_verbose(fmt::format("detached in {:.0f} ms", took.count()));
  if (!costs) log_verbose(costs.error().what);
  if (costs && *costs) probing_.set_costs(**costs);
  // What was mapped last, an allocator perhaps, is counted in the maps that are read now.
  take_mapping_events();
  probing_.take_last_look();
  drain();
  if (!probing_.program_has_allocator() && !model_.has_allocated()) {
    tracer_.count_loss(HAWK_LOSS_NO_ALLOCATOR);
    log_warning(fmt::format("{}; {}", no_allocator_text(), no_allocator_hint(probing_.is_go(subject_.target.exe))));
    drain();
  }
  const std::chrono::duration<double, std::milli> drained = longest_drain_;
  log_verbose(fmt::format("longest drain: {} stacks in {:.2f} ms", model_.stack_count(), drained.count()));
  if (!verify) return {};
  verified_ = HAWK_TRY(tracer_.verify(engine_->drain()[tracer_.number()]));
  return {};
}

Snapshot ProcessTrace::snapshot() {
  Snapshot snapshot = model_.snapshot();
  snapshot.target() = subject_.target;
  snapshot.target().allocators = probing_.allocators();
  snapshot.target().threads = threads_.events();
  snapshot.target().is_go = probing_.is_go(snapshot.target().exe);
  snapshot.trace = {.attach_via = std::string(attach_way_name(probes_.by_plan ? AttachWay::kPoints : probes_.way)),
                    .live_table = std::string(live_table_name(engine_->live_table())),
                    .unwind = std::string(unwind_method_name(unwind_)),
                    .min_block_bytes = engine_->min_block_bytes(),
                    .from_start = subject_.own_execs != 0,
                    .start_unix_ns = static_cast<std::uint64_t>(
                        std::chrono::duration_cast<std::chrono::nanoseconds>(start_wall_.time_since_epoch()).count()),
                    .duration_ns = static_cast<std::uint64_t>(elapsed().count()),
                    .interval_ns = static_cast<std::uint64_t>(interval_.count()),
                    .kernel = kernel_release(),
                    .target_exited = target_exited_,
                    .exec_count = model_.exec_epoch() - std::min(subject_.own_execs, model_.exec_epoch()),
                    .limits = limits_,
                    .verified = verified_};
  snapshot.memory = memory_;
  snapshot.usage = usage_;
  snapshot.unwind = probing_.unwinding().info();
  snapshot.unwind.cache_misses = tracer_.unwind_misses();
  for (std::size_t i = modules_.size(); i < probing_.modules().module_count(); ++i) {
    const MappedModule& module = probing_.modules().module(ModuleId(i));
    modules_.push_back({.path = module.path, .build_id = module.build_id});
  }
  snapshot.modules = modules_;
  return snapshot;
}

Symbolizer& ProcessTrace::symbolizer() {
  if (reading_symbols_.joinable()) reading_symbols_.join();
  for (; symbolized_modules_ < probing_.used_modules().size(); ++symbolized_modules_) {
    symbolize(probing_.used_modules()[symbolized_modules_]);
  }
  return symbolizer_;
}

/// Makes the module known to the symbolizer, if it is not.
void ProcessTrace::symbolize(ModuleId id) {
  if (!symbolized_.insert(id).second) return;
  symbolizer_.add_module(id, LiveModuleLocator(probing_, subject_.proc_pid).locate(id));
}

}  // namespace hawk

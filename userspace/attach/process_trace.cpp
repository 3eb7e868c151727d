#include "userspace/attach/process_trace.h"

#include <fmt/core.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "userspace/attach/environment.h"
#include "userspace/attach/module_locator.h"
#include "userspace/attach/process_status.h"
#include "userspace/base/log.h"
#include "userspace/base/open_file_limit.h"
#include "userspace/base/process_file.h"
#include "userspace/process/process.h"

namespace hawk {
namespace {

constexpr std::size_t kCommLength = 15;  ///< TASK_COMM_LEN - 1, include/linux/sched.h

void take_names(TargetInfo& target, const ProcessInfo& process) {
  target.comm = process.comm;
  target.exe = process.exe;
  target.cgroup = process.cgroup;
}

}  // namespace

ProcessTrace::ProcessTrace(SharedTracing& shared, Subject subject, UniqueFd pid_fd, Tracer tracer, const Probing* maker)
    : subject_(std::move(subject)),
      pid_fd_(std::move(pid_fd)),
      shared_(shared),
      tracer_(std::move(tracer)),
      first_program_(tracer_->first_program()),
      probing_(maker != nullptr ? Probing(*maker, subject_.proc_pid, *tracer_, shared)
                                : Probing(subject_.proc_pid, *tracer_, shared)),
      threads_(fmt::format("/proc/{}", subject_.target.pid)),
      status_(subject_.proc_pid),
      meter_(subject_.proc_pid),
      perf_map_(subject_.proc_pid),
      symbolizer_(shared_.known_symbols()) {
  shared_.mapping_events().follow(first_program_);
  if (RegionFeed* const feed = shared_.region_feed()) regions_.emplace(shared_.engine(), *feed);
}

ProcessTrace::~ProcessTrace() {
  if (tracer_) shared_.mapping_events().forget(first_program_);
  shared_.forget_symbolizer(symbolizer_);
}

Result<ProcessTrace::Subject> ProcessTrace::subject_of(const LaunchedCommand& command,
                                                       const std::vector<std::string>& words) {
  Subject subject;
  TargetInfo& target = subject.target;
  subject.expected_files = HAWK_TRY(files_of_command(words));
  target.pid = subject.proc_pid = command.pid();
  target.exe = subject.expected_files.front();
  target.comm = target.exe.substr(target.exe.rfind('/') + 1, kCommLength);
  target.cgroup = read_cgroup(target.pid);
  subject.own_execs = 1;
  return subject;
}

Result<ProcessTrace::Subject> ProcessTrace::subject_of(int pid) {
  Subject subject;
  TargetInfo& target = subject.target;
  const ProcessInfo process = HAWK_TRY(inspect_process(pid));
  HAWK_TRY_VOID(check_seccomp(kernel_release(), process.seccomp_mode));
  target.pid = process.pid;
  take_names(target, process);
  subject.proc_pid = process.living_tid;
  subject.main_thread_lives = !process.main_thread_exited;
  return subject;
}

std::vector<ReadAhead::Source> ProcessTrace::files_to_read(const Subject& subject) {
  const Result<std::vector<Mapping>> mappings = read_mappings(subject.target.pid);
  if (!mappings) return {};  // the error is reported where they are needed
  return ReadAhead::sources_of(subject.proc_pid, *mappings);
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::begin_target(SharedTracing& shared, Subject subject,
                                                                 ProcessHandle process,
                                                                 std::vector<ReadAhead::Source> reads) {
  HAWK_TRY_VOID(process.require_same());
  make_room_for_open_files(reads.size() + kOtherOpenFiles);
  std::unique_ptr<ReadAhead> reading = shared.begin_reading_ahead(std::move(reads));
  HAWK_TRY_VOID(shared.load());
  Tracer tracer = HAWK_TRY(shared.make_tracer(subject.target.pid, subject.main_thread_lives));
  // Another program that began before is not announced.
  if (subject.own_execs == 0) take_names(subject.target, HAWK_TRY(inspect_process(subject.target.pid)));
  // What is announced of its mappings is kept from here on, before the list of them is read.
  std::unique_ptr<ProcessTrace> trace(
      new ProcessTrace(shared, std::move(subject), process.take_fd(), std::move(tracer), nullptr));
  trace->probing_.use(std::move(reading));
  return trace;
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::make(SharedTracing& shared, int pid, bool waits) {
  ProcessHandle process(pid);
  Subject subject = HAWK_TRY(subject_of(pid));
  std::vector<ReadAhead::Source> reads = files_to_read(subject);
  std::unique_ptr<ProcessTrace> trace =
      HAWK_TRY(begin_target(shared, std::move(subject), std::move(process), std::move(reads)));
  HAWK_TRY_VOID(trace->probe_running_process(waits));
  trace->probing_.check_breakpoints_in_time();
  return trace;
}

Result<std::unique_ptr<ProcessTrace>> ProcessTrace::make(SharedTracing& shared, const LaunchedCommand& command) {
  ProcessHandle process(command.pid());
  Subject subject = HAWK_TRY(subject_of(command, shared.config().command));
  std::vector<ReadAhead::Source> reads = ReadAhead::sources_of(subject.expected_files);
  std::unique_ptr<ProcessTrace> trace =
      HAWK_TRY(begin_target(shared, std::move(subject), std::move(process), std::move(reads)));
  HAWK_TRY_VOID(trace->probing_.expect_files(trace->subject_.expected_files));
  trace->probing_.check_breakpoints_in_time();
  return trace;
}

ProcessTrace::Subject ProcessTrace::subject_of(const Birth& birth, const ProcessTrace* maker) {
  Subject subject;
  subject.is_child = true;
  TargetInfo& target = subject.target;
  if (maker != nullptr) {
    subject.maker_pid = maker->pid();
    const TargetInfo& its = maker->subject_.target;
    target.cgroup = its.cgroup;
    if (!birth.is_new_program && maker->program() == birth.maker_program) {
      target.comm = its.comm;
      target.exe = its.exe;
    }
  }
  target.pid = subject.proc_pid = birth.pid;
  return subject;
}

std::unique_ptr<ProcessTrace> ProcessTrace::adopt(SharedTracing& shared, const Birth& birth,
                                                  const ProcessTrace* maker) {
  // Probes stay with a process that replaces its program; what is known of the program does not.
  const bool is_copy = maker != nullptr && maker->program() == birth.maker_program && !birth.is_new_program;
  ProcessHandle process(birth.pid);
  Tracer tracer =
      Tracer::adopt(shared.engine(), birth, maker != nullptr && maker->tracer_ ? &*maker->tracer_ : nullptr);
  // What had its number until now was the process, if it has not ended by now.
  UniqueFd pid_fd = tracer.process_has_ended() ? UniqueFd() : process.take_fd();
  std::unique_ptr<ProcessTrace> trace(new ProcessTrace(shared, subject_of(birth, maker), std::move(pid_fd),
                                                       std::move(tracer), is_copy ? &maker->probing_ : nullptr));
  trace->begin_as_child(birth);
  return trace;
}

void ProcessTrace::begin_as_child(const Birth& birth) {
  const auto age = std::chrono::steady_clock::now().time_since_epoch() - std::chrono::nanoseconds(birth.time_ns);
  probing_.tracing_began();
  meter_.begin(true);
  start_wall_ = std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::microseconds>(age);
  start_ = closed_at_ = std::chrono::steady_clock::now() - age;
  const std::string exe_of_maker = subject_.target.exe;
  // It may have ended since: what cannot be read is left as it is.
  if (const auto process = pid_fd_ ? inspect_process(pid()) : tl::unexpected(Error{}))
    take_names(subject_.target, *process);
  // In a container that is another path to us than to the process itself, which is what is announced.
  if (!exe_of_maker.empty()) subject_.target.exe = exe_of_maker;
  take_mapping_events();
  if (pid_fd_ && birth.is_new_program) take_mappings_again();
  if (pid_fd_) threads_.read(0);
}

/// A process that is just being replaced by another program has not mapped all of it yet, and may be replaced again.
Result<void> ProcessTrace::probe_running_process(bool waits) {
  constexpr int kTriesUnchanged = 50;
  constexpr int kWaitMs = 10;
  const int tries = waits ? 500 : 1;
  std::vector<Mapping> before;
  for (int i = 0, unchanged = 0; i < tries && unchanged < kTriesUnchanged; ++i) {
    const std::vector<Mapping> mappings = HAWK_TRY(read_mappings(pid()));
    HAWK_TRY_VOID(probing_.take_mappings(mappings));
    if (probing_.found_allocator()) return {};
    unchanged = mappings == before ? unchanged + 1 : 0;
    before = mappings;
    pollfd ended = {.fd = pid_fd_.get(), .events = POLLIN, .revents = 0};
    if (TEMP_FAILURE_RETRY(::poll(&ended, 1, waits ? kWaitMs : 0)) > 0)
      return fail(ExitCode::kNoTarget, fmt::format("trace process {}: it has ended", pid()));
  }
  if (probing_.refusal()) return tl::unexpected<Error>(*probing_.refusal());
  return fail(ExitCode::kPrivilege, no_allocator_text(),
              std::string(no_allocator_hint(probing_.is_go(subject_.target.exe))));
}

std::string ProcessTrace::no_allocator_text() const {
  return fmt::format(
      "find the allocator of process {}: none of its mapped files defines malloc or another allocator function", pid());
}

void ProcessTrace::begin() {
  probing_.tracing_began();
  meter_.begin(subject_.own_execs != 0);
  start_wall_ = std::chrono::system_clock::now();
  start_ = closed_at_ = std::chrono::steady_clock::now();
  const bool runs = subject_.own_execs == 0;  // or it is a command, still this program's child
  if (regions_ && runs) regions_->begin(subject_.proc_pid, *tracer_);
  shared_.advance_clock();  // what is allocated from here on is not as old as the programs
  tracer_->enable();
  if (regions_ && runs) update_regions({});
  if (runs) threads_.read(0);
}

std::chrono::nanoseconds ProcessTrace::elapsed() const {
  return is_probed() ? std::chrono::steady_clock::now() - start_ : duration_;
}

void ProcessTrace::take_mappings_again() {
  const Result<std::vector<Mapping>> mappings = read_mappings_with(
      pid(), [&](const std::vector<Mapping>& list) { return probing_.modules().has_all_code(list); });
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
  const std::optional<Tracer::Asked> asked = tracer_ ? std::optional(tracer_->ask_for_files()) : std::nullopt;
  const std::uint32_t holds = tracer_ ? tracer_->holds_wanted() : 0;
  const MappingChanges changes = shared_.mapping_events().take(first_program_);
  if (asked) tracer_->take_files(*asked, changes.execs);
  if (changes.last_exec) {
    subject_.target.comm = changes.last_exec->comm;
    if (!changes.last_exec->path.empty()) subject_.target.exe = changes.last_exec->path;
  }
  probing_.take_new_mappings(changes.mapped, !changes.last_exec);
  // What was read until now may be the list of the process that was to become the command. It is not read again: that
  // would leave walks without rules for a moment.
  if (changes.last_exec) {
    probing_.program_began(changes.of_last_program(), changes.execs == 1);
    exec_was_announced_ = true;
  }
  if (changes.read_all) take_mappings_again();
  probing_.note_studied(changes.new_files);
  // What a thread that goes on starts has the points for its last look from here, and may end before any more comes.
  if (is_probed()) probing_.publish_breakpoints();
  if (tracer_) tracer_->release_held(holds);
  if (is_probed()) probing_.check_breakpoints_in_time();
}

void ProcessTrace::read_memory() {
  std::optional<ProcessMemory> memory = memory_in_status(status_.read());
  if (!memory) return;  // it has ended: what it took before stays
  memory->live_bytes = model_.live_bytes();
  memory_ = memory;
}

std::optional<std::uint32_t> ProcessTrace::number() const {
  return tracer_ ? std::optional(tracer_->number()) : std::nullopt;
}

bool ProcessTrace::has_mapping_events() const {
  return tracer_ && shared_.mapping_events().has_changes(first_program_);
}

void ProcessTrace::note_ended_early() {
  if (tracer_) tracer_->count_loss(HAWK_LOSS_ENDED_EARLY);
}

std::vector<StackCounters> ProcessTrace::take(Drained drained, std::chrono::nanoseconds took) {
  longest_drain_ = std::max(longest_drain_, took);
  const bool has_exec = drained.exec_epoch != model_.exec_epoch();
  const bool is_announced = has_exec && std::exchange(exec_was_announced_, false);
  const bool is_replaced = has_exec && drained.exec_epoch > subject_.own_execs;
  if (is_replaced) probing_.program_replaced(is_announced);
  // After the maps: the mapping of every stack in them has been announced by then.
  take_mapping_events();
  const Losses losses = drained.losses;
  std::vector<StackCounters> before =
      model_.update(std::move(drained), [this](std::uint64_t address) { return probing_.frame_at(address); });
  if (regions_) update_regions(losses);
  most_live_bytes_ = std::max(most_live_bytes_, model_.most_live_bytes());
  if (has_exec) at_peak_.reset();
  // What the target says of its code may be gone with it.
  if (probing_.has_frames_in_no_file()) perf_map_.refresh(symbolizer_);
  read_memory();
  threads_.read(static_cast<std::uint64_t>(elapsed().count()));
  meter_.look();
  // What is unmapped is not announced. After the stacks, whose frames may lie there.
  if (is_replaced || (is_probed() && tracer_->code_ranges_are_stale())) take_mappings_again();
  if (!is_probed()) return before;
  close_unmapped_files();
  probing_.check_breakpoints_in_time();
  return before;
}

/// Their stacks are read later than where code is mapped, and may lie in what was mapped in between; a location is
/// never looked up again. So that is read once more when the first of them is resolved.
void ProcessTrace::update_regions(const Losses& losses) {
  const auto resolve = [this, is_first = true](std::uint64_t address) mutable {
    if (std::exchange(is_first, false)) take_mapping_events();
    return probing_.frame_at(address);
  };
  regions_->update(subject_.proc_pid, *tracer_, losses[HAWK_LOSS_REGION_EVENT], model_, resolve);
}

/// Nearly every stack passes through the program's own file and that of its allocator, which is libc's as a rule: to
/// read their debug information takes as long as the kernel's grace periods, for which detaching waits.
void ProcessTrace::begin_reading_symbols() {
  if (!tracer_->has_stacks()) return;
  const std::vector<Allocator>& allocators = probing_.allocators();
  std::set<ModuleId> wanted;
  for (const MappedCode& code : probing_.modules().code()) {
    const std::string& path = probing_.modules().module(code.module).path;
    const bool has_allocator = std::any_of(allocators.begin(), allocators.end(),
                                           [&](const Allocator& allocator) { return allocator.path == path; });
    if (has_allocator || path == subject_.target.exe) wanted.insert(code.module);
  }
  for (const ModuleId id : wanted) symbolize(id);
  shared_.begin_reading(symbolizer_, std::vector<ModuleId>(wanted.begin(), wanted.end()));
}

void ProcessTrace::begin_end(bool reads_symbols) {
  take_mapping_events();
  probing_.check_breakpoints(true);
  duration_ = std::chrono::steady_clock::now() - start_;
  if (reads_symbols) begin_reading_symbols();
}

void ProcessTrace::look_a_last_time() {
  if (const std::optional<ProbeCosts>& costs = shared_.costs()) probing_.set_costs(*costs);
  take_mapping_events();
  probing_.take_last_look();
}

bool ProcessTrace::note_late_losses() {
  const bool may_be_wrong = regions_ && regions_->may_be_wrong(tracer_->program());
  if (may_be_wrong) tracer_->count_loss(HAWK_LOSS_REGION_EVENT);
  if (probing_.program_has_allocator() || model_.has_allocated() || probing_.ended_while_loading()) return may_be_wrong;
  tracer_->count_loss(HAWK_LOSS_NO_ALLOCATOR);
  log_warning(fmt::format("{}; {}", no_allocator_text(), no_allocator_hint(probing_.is_go(subject_.target.exe))));
  return true;
}

Result<void> ProcessTrace::verify() {
  verified_ = HAWK_TRY(tracer_->verify(model_.counters()));
  return {};
}

void ProcessTrace::let_go() {
  log_verbose(fmt::format("longest drain: {} stacks in {:.2f} ms", model_.stack_count(),
                          std::chrono::duration<double, std::milli>(longest_drain_).count()));
  unwind_misses_ = tracer_->unwind_misses();
  usage_ = meter_.read(shared_.table_bytes());
  probing_.let_go_of_tracer();
  if (regions_) regions_->end(first_program_);
  // Another process may be given it.
  shared_.mapping_events().forget(first_program_);
  tracer_.reset();
}

Symbolizer& ProcessTrace::symbolizer() {
  shared_.use_symbolizer(symbolizer_);
  for (; symbolized_modules_ < probing_.used_modules().size(); ++symbolized_modules_) {
    symbolize(probing_.used_modules()[symbolized_modules_]);
  }
  return symbolizer_;
}

ModuleFile ProcessTrace::locate(ModuleId id) { return LiveModuleLocator(probing_, subject_.proc_pid).locate(id); }

void ProcessTrace::symbolize(ModuleId id) {
  if (symbolized_.insert(id).second) symbolizer_.add_module(id, locate(id));
}

}  // namespace hawk

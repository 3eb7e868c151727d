#include "userspace/attach/trace_group.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/threads.h"

namespace hawk {

Result<ProcessTrace*> TraceGroup::keep(Result<std::unique_ptr<ProcessTrace>> made) {
  traces_.push_back(HAWK_TRY(std::move(made)));
  held_.push_back(traces_.back().get());
  return held_.back();
}

Result<ProcessTrace*> TraceGroup::add(int pid, bool waits) { return keep(ProcessTrace::make(shared_, pid, waits)); }

Result<ProcessTrace*> TraceGroup::add(const LaunchedCommand& command) {
  return keep(ProcessTrace::make(shared_, command));
}

const ProcessTrace* TraceGroup::maker_of(const Birth& birth) const {
  const auto is_maker = [&](const ProcessTrace* trace) { return trace->has_run(birth.maker_program); };
  const auto found = std::find_if(held_.begin(), held_.end(), is_maker);
  return found != held_.end() ? *found : nullptr;
}

void TraceGroup::adopt_births() {
  for (const Birth& birth : shared_.engine().take_births()) {
    traces_.push_back(ProcessTrace::adopt(shared_, birth, maker_of(birth)));
    held_.push_back(traces_.back().get());
  }
}

void TraceGroup::drain() {
  read_maps();
  std::vector<ProcessTrace*> living = probed();
  std::erase_if(living, [](const ProcessTrace* trace) { return trace->target_has_exited(); });
  if (!shared_.should_choose_scope(living.size())) return;
  std::vector<int> pids;
  std::set<MappedFile> files;
  for (const ProcessTrace* const trace : living) {
    pids.push_back(trace->pid());
    files.merge(trace->probed_files());
  }
  if (!shared_.should_extend_probes(pids, files)) return;
  for (ProcessTrace* const trace : living) trace->check_breakpoints();
  shared_.extend_probes();
}

void TraceGroup::read_maps() {
  Engine& engine = shared_.engine();
  take_mapping_events();
  engine.adjust_memory();
  shared_.advance_clock();
  const auto began = std::chrono::steady_clock::now();
  std::vector<Drained> drained = engine.drain();
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - began;
  for (ProcessTrace* const trace : held_) {
    // Of one that was born since, nothing has been read yet.
    const auto number = trace->number();
    if (!number || *number >= drained.size()) continue;
    std::vector<StackCounters> before = trace->take(std::move(drained[*number]), took);
    // The report needs memory once all has been drained.
    if (!trace->has_ended()) engine.give_back(*number, std::move(before));
  }
}

Result<void> TraceGroup::read_lives() {
  shared_.advance_clock();
  const TraceClock& clock = shared_.clock();
  const auto began = std::chrono::steady_clock::now();
  BirthCuts cuts = {.now_ms = clock.now_ms(), .births_ms = shared_.config().age_window.cuts_ms(clock.now_ms())};
  cuts.births_ms.insert(cuts.births_ms.end(), clock.marks_ms().begin(), clock.marks_ms().end());
  std::vector<TargetLives> lives = HAWK_TRY(shared_.engine().read_lives(cuts));
  for (ProcessTrace* const trace : held_) {
    const auto number = trace->number();
    if (!number || *number >= lives.size()) continue;
    TargetLives& own = lives[*number];
    trace->take_lives({.ages = {.now_ms = clock.now_ms(),
                                .blocks = std::move(own.ages),
                                .marks_ms = clock.marks_ms(),
                                .age_bits = own.age_bits},
                       .stacks = std::move(own.stacks),
                       .thread_names = std::move(own.thread_names)});
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  log_verbose(fmt::format("lives of blocks read in {:.2f} ms", took.count()));
  return {};
}

std::size_t TraceGroup::mark() {
  shared_.mark();
  return shared_.clock().marks_ms().size();
}

void TraceGroup::take_mapping_events() {
  shared_.mapping_events().read();
  for (ProcessTrace* const trace : held_) {
    if (trace->has_mapping_events()) trace->take_mapping_events();
  }
  adopt_births();
}

void TraceGroup::begin_end(std::span<ProcessTrace* const> ending, EndOptions options) {
  // A worker for each would be as many at once; the first one's is the first to be asked.
  for (ProcessTrace* const trace : ending) trace->begin_end(options.reads_symbols && trace == ending.front());
}

/// Side by side with the rest of measuring what traps cost: both wait for the kernel's grace periods.
void TraceGroup::remove_probes(std::span<ProcessTrace* const> ending) {
  const auto began = std::chrono::steady_clock::now();
  const std::jthread measuring = try_thread([this] { shared_.costs(); });
  std::vector<Tracer*> living;
  for (ProcessTrace* const trace : ending) {
    if (trace->target_has_exited()) {
      trace->tracer().stop_ended();
    } else {
      living.push_back(&trace->tracer());
    }
  }
  Tracer::stop_all(living);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  log_verbose(fmt::format("detached in {:.0f} ms", took.count()));
}

Result<void> TraceGroup::finish(std::span<ProcessTrace* const> ending, EndOptions options) {
  for (ProcessTrace* const trace : ending) trace->look_a_last_time();
  read_maps();
  bool is_late = false;
  for (ProcessTrace* const trace : ending) is_late |= trace->note_late_losses();
  if (is_late) read_maps();
  if (options.reads_lives || shared_.config().reads_lives) HAWK_TRY_VOID(read_lives());
  for (ProcessTrace* const trace : ending) {
    if (options.verify) HAWK_TRY_VOID(trace->verify());
    trace->let_go();
  }
  std::erase_if(held_, [](const ProcessTrace* trace) { return !trace->number(); });
  return {};
}

Result<void> TraceGroup::end(std::span<ProcessTrace* const> ending, EndOptions options) {
  begin_end(ending, options);
  remove_probes(ending);
  return finish(ending, options);
}

/// Those whose end has not begun.
std::vector<ProcessTrace*> TraceGroup::probed() const {
  std::vector<ProcessTrace*> probed;
  for (ProcessTrace* const trace : held_) {
    if (!trace->has_ended()) probed.push_back(trace);
  }
  return probed;
}

Result<void> TraceGroup::end_all(EndOptions options) {
  std::vector<ProcessTrace*> ending;
  if (probed().empty()) return {};
  // Until the last has ended, they may start others.
  for (std::vector<ProcessTrace*> more = probed(); !more.empty(); more = probed()) {
    begin_end(more, options);
    remove_probes(more);
    ending.insert(ending.end(), more.begin(), more.end());
    options.reads_symbols = false;  // begun by now
    adopt_births();
  }
  shared_.engine().stop();
  return finish(ending, options);
}

void TraceGroup::remove(ProcessTrace& removed) {
  std::erase(held_, &removed);
  std::erase_if(traces_, [&](const auto& trace) { return trace.get() == &removed; });
}

}  // namespace hawk

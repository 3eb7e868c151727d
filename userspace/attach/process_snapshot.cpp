// What a ProcessTrace knows, as a Snapshot.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "userspace/attach/environment.h"
#include "userspace/attach/process_trace.h"

namespace hawk {

namespace {

/// The last name of each thread, ascending by number. `kept`: what it was called when it last had a new stack.
/// `events`: what readings of /proc have found, which for a thread that ends soon may be only what it was called before
/// that, or nothing.
std::vector<ThreadName> last_names(const SharedTable<ThreadEvent>& events, const std::vector<ThreadName>& kept) {
  struct Known {
    std::set<std::string> names;
    std::string last;
    bool has_ended = false;
  };
  std::map<int, Known> threads;
  for (const ThreadEvent& event : events) {
    Known& known = threads[event.tid];
    known.has_ended = !event.name;
    if (!event.name) continue;
    known.names.insert(*event.name);
    known.last = *event.name;
  }
  for (const ThreadName& name : kept) {
    Known& known = threads[name.tid];
    const bool is_later = (known.has_ended || known.names.empty()) && !known.names.contains(name.name);
    if (is_later) known.last = name.name;
  }
  std::vector<ThreadName> names;
  names.reserve(threads.size());
  for (const auto& [tid, known] : threads) names.push_back({.target = {}, .tid = tid, .name = known.last});
  return names;
}

}  // namespace

void ProcessTrace::take_lives(Lives lives) {
  if (lives.thread_names) lives.thread_names = last_names(threads_.events(), *lives.thread_names);
  model_.take_lives(std::move(lives));
}

std::uint64_t ProcessTrace::take_most_live_bytes() {
  return std::exchange(most_live_bytes_, model_.least_live_bytes());
}

void ProcessTrace::keep_peak() {
  model_.keep_peak();
  at_peak_ = elapsed();
}

Snapshot ProcessTrace::snapshot(SpareStacks spare) { return with_trace(model_.snapshot(std::move(spare))); }

Snapshot ProcessTrace::snapshot_at_peak() {
  Snapshot snapshot = with_trace(model_.snapshot_at_peak());
  snapshot.is_at_peak = true;
  snapshot.trace.duration_ns = at_peak_ ? static_cast<std::uint64_t>(at_peak_->count()) : 0;  // 0: begun later
  return snapshot;
}

Snapshot ProcessTrace::with_trace(Snapshot snapshot) {
  snapshot.target() = subject_.target;
  probing_.count_calls_at_points();
  snapshot.target().allocators = probing_.allocators();
  snapshot.target().threads = threads_.events();
  snapshot.target().is_go = probing_.is_go(snapshot.target().exe);
  snapshot.trace = {.attach_via = shared_.reported_attachment(),
                    .live_table = std::string(live_table_name(shared_.engine().live_table())),
                    .unwind = std::string(unwind_method_name(shared_.config().unwind)),
                    .min_block_bytes = shared_.engine().min_block_bytes(),
                    .from_start = subject_.own_execs != 0 || subject_.is_child,
                    .start_unix_ns = static_cast<std::uint64_t>(
                        std::chrono::duration_cast<std::chrono::nanoseconds>(start_wall_.time_since_epoch()).count()),
                    .duration_ns = static_cast<std::uint64_t>(elapsed().count()),
                    .interval_ns = static_cast<std::uint64_t>(shared_.config().interval.count()),
                    .kernel = kernel_release(),
                    .target_exited = target_exited_,
                    .exec_count = model_.exec_epoch() - std::min(subject_.own_execs, model_.exec_epoch()),
                    .limits = shared_.limits(),
                    .verified = verified_};
  snapshot.memory = memory_;
  snapshot.usage = usage_ ? *usage_ : meter_.read(shared_.table_bytes());
  snapshot.unwind = probing_.unwind_info();
  snapshot.unwind.cache_misses = tracer_ ? tracer_->unwind_misses() : unwind_misses_;
  for (std::size_t i = modules_.size(); i < probing_.modules().module_count(); ++i) {
    const MappedModule& module = probing_.modules().module(ModuleId(i));
    modules_.push_back({.path = module.path, .build_id = module.build_id});
  }
  snapshot.modules = modules_;
  return snapshot;
}

}  // namespace hawk

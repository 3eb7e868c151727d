#include "userspace/traces/trace_recording.h"

#include <utility>
#include <vector>

namespace hawk {

Result<void> TraceRecording::begin_file() {
  file_.reset();
  file_.emplace(
      File{HAWK_TRY(RecordingWriter::create(next_path_(), options_.overwrite)), std::chrono::steady_clock::now()});
  return {};
}

bool TraceRecording::is_full() const {
  if (!file_) return false;
  const RotationRules& rules = options_.rotation;
  return (rules.bytes && file_->writer.size_bytes() >= *rules.bytes) ||
         (rules.after && std::chrono::steady_clock::now() - file_->began >= *rules.after);
}

Result<TraceRecording::Part*> TraceRecording::part_of(ProcessTrace& trace) {
  const auto known = file_->parts.find(&trace);
  if (known != file_->parts.end()) return &known->second;
  std::optional<recording::TraceNumber> number = file_->writer.begin_trace();
  if (!number) {
    HAWK_TRY_VOID(end_file());
    HAWK_TRY_VOID(begin_file());
    number = file_->writer.begin_trace();
  }
  return &file_->parts.emplace(&trace, Part{number.value(), RecordedStates(options_.symbols)}).first->second;
}

RecordedState TraceRecording::next_state(Part& part, const Snapshot& now, ProcessTrace& trace) {
  RecordedState state = part.states.next(now, trace);
  state.sum_most = sum_most_;
  return state;
}

void TraceRecording::narrow(Snapshot& snapshot) const {
  if (!options_.ages) snapshot.ages.reset();
  if (!options_.histograms) snapshot.lives.reset();
}

Result<void> TraceRecording::finish_part(ProcessTrace& trace, const Snapshot& last) {
  Part* const part = HAWK_TRY(part_of(trace));
  Snapshot recorded = last;
  narrow(recorded);
  HAWK_TRY_VOID(file_->writer.finish(next_state(*part, recorded, trace), part->number));
  file_->parts.erase(&trace);
  return {};
}

Result<void> TraceRecording::finish_parts_but(const ProcessTrace* kept) {
  std::vector<ProcessTrace*> others;
  for (const auto& [trace, part] : file_->parts) {
    if (trace != kept) others.push_back(trace);
  }
  for (ProcessTrace* const trace : others) HAWK_TRY_VOID(finish_part(*trace, trace->snapshot()));
  return {};
}

Result<void> TraceRecording::append(ProcessTrace& trace, DumpCause cause) {
  Snapshot now = trace.snapshot();
  now.trace.dump_cause = cause;
  narrow(now);
  if (!file_) HAWK_TRY_VOID(begin_file());
  if (is_full()) {
    // A file that is full ends with an interval of each process, and the next one begins with all that is known.
    HAWK_TRY_VOID(finish_parts_but(&trace));
    HAWK_TRY_VOID(finish_part(trace, now));
    HAWK_TRY_VOID(begin_file());
  }
  Part* const part = HAWK_TRY(part_of(trace));
  return file_->writer.append(next_state(*part, now, trace), part->number);
}

Result<void> TraceRecording::end(ProcessTrace& trace, const Snapshot& last) {
  if (!file_) HAWK_TRY_VOID(begin_file());
  return finish_part(trace, last);
}

Result<void> TraceRecording::end_file() {
  if (!file_) return {};
  HAWK_TRY_VOID(finish_parts_but(nullptr));
  file_.reset();
  return {};
}

}  // namespace hawk

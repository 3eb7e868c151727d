#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "userspace/attach/process_trace.h"
#include "userspace/base/result.h"
#include "userspace/recording/recording_writer.h"
#include "userspace/tables/snapshot.h"
#include "userspace/traces/recorded_state.h"

namespace hawk {

/// When a recording goes on in another file.
struct RotationRules {
  std::optional<std::uint64_t> bytes;             ///< a new file is begun when one has as many
  std::optional<std::chrono::nanoseconds> after;  ///< the same, when one is as old
};

/// The recording of traces, in one file or several, one after the other. Each file has, of every trace that is appended
/// while it is written, all that is known. Traces may come and go.
class TraceRecording {
 public:
  /// Makes the path of the next file.
  using NameFile = std::function<std::string()>;

  struct Options {
    bool symbols = false;    ///< see RecordedStates
    bool overwrite = false;  ///< see RecordingWriter::create
    RotationRules rotation = {};
    bool ages = true;        ///< of what a snapshot knows of the lives of blocks
    bool histograms = true;  ///< the same
  };

  TraceRecording(Options options, NameFile next_path) : options_(options), next_path_(std::move(next_path)) {}

  /// Begins the first file. Without it the first interval does.
  Result<void> begin_file();
  /// An interval of a trace.
  Result<void> append(ProcessTrace& trace, DumpCause cause);
  /// Its last one; `last` is the trace's last snapshot. It is not known any more after that.
  Result<void> end(ProcessTrace& trace, const Snapshot& last);
  /// Whether the file that is written has an interval of it, and not its last one.
  bool has_part_of(ProcessTrace& trace) const { return file_ && file_->parts.contains(&trace); }
  /// Ends all that are known, and the file.
  Result<void> end_file();
  /// The same, if it is to be followed by another.
  Result<void> end_file_if_full() { return is_full() ? end_file() : Result<void>{}; }
  /// Whether the next interval is the last one in this file, and the first in another.
  bool is_full() const;
  /// Gives up what is written now, after a failure: the next interval begins a file with all that is known.
  void give_up_file() { file_.reset(); }
  /// At most so many bytes were live in all traces together, at any time until now.
  void note_sum_most(std::uint64_t bytes) { sum_most_ = bytes; }
  /// Other rules hold from now on. What is said of symbols stays.
  void set_options(const Options& options) {
    const bool symbols = options_.symbols;
    options_ = options;
    options_.symbols = symbols;
  }

  /// Of the file that is written; empty: there is none.
  std::string path() const { return file_ ? file_->writer.path() : std::string(); }
  std::uint64_t size_bytes() const { return file_ ? file_->writer.size_bytes() : 0; }

 private:
  /// A trace that has an interval in a file.
  struct Part {
    recording::TraceNumber number;
    RecordedStates states;
  };
  /// What is written now.
  struct File {
    RecordingWriter writer;
    std::chrono::steady_clock::time_point began;
    std::map<ProcessTrace*, Part> parts = {};
  };

  Result<Part*> part_of(ProcessTrace& trace);
  RecordedState next_state(Part& part, const Snapshot& now, ProcessTrace& trace);
  Result<void> finish_part(ProcessTrace& trace, const Snapshot& last);
  /// Takes off what is not to be recorded.
  void narrow(Snapshot& snapshot) const;
  Result<void> finish_parts_but(const ProcessTrace* kept);

  Options options_;
  NameFile next_path_;
  std::optional<File> file_;
  std::optional<std::uint64_t> sum_most_;
};

}  // namespace hawk

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "userspace/elf/elf_layout.h"
#include "userspace/study/file_study.h"
#include "userspace/study/worker_supply.h"

namespace hawk {

/// A file, which is open until it has been read, and the requested results.
struct FileQuestion {
  const ElfLayout* file = nullptr;
  FileWants wants;
};

/// Has code and unwind tables of files read by an unprivileged process (run_worker), to which it passes descriptors. If
/// a worker crashes, hangs, exceeds its memory limit or sends an invalid answer, only the file that it was reading is
/// lost, and FileStudy::gap says so; another worker reads the next. A worker lives as long as this object, because
/// starting one takes as long as reading many files. For one thread at a time.
class FileReader {
 public:
  static constexpr WorkerLimits kLimits = {.processor_seconds = 20, .idle_seconds = 30};
  /// `program`: the program to start as the worker; by default this one.
  explicit FileReader(std::string program = kThisProgram, WorkerLimits limits = kLimits)
      : workers_(std::move(program), limits) {}

  /// A reader with a worker of its own.
  FileReader another() const { return FileReader(workers_.program(), workers_.limits()); }
  /// Starts the worker, so that the first request need not wait for it. If that fails, the error is the answer to the
  /// first request.
  void start() { workers_.get(); }
  /// Gives the worker away, which has nothing left to answer; nullptr: there is none. The next request starts another.
  std::unique_ptr<WorkerProcess> release_worker() { return workers_.release(); }
  /// Has the files read, and calls `use` with the number and the result of each, in order. While `use` runs, the next
  /// ones are read.
  using Use = std::function<void(std::size_t number, FileStudy study)>;
  void read(std::span<const FileQuestion> questions, const Use& use);
  /// Has one file read.
  FileStudy read(const FileQuestion& question);

 private:
  class Unfinished;

  FileStudy read_first(std::span<const FileQuestion> questions, std::size_t& sent);
  void send_some(std::span<const FileQuestion> questions, std::size_t& sent);
  bool receive(const FileQuestion& question, FileStudy& study);
  bool take_message(const FileQuestion& question, const Message& message, FileStudy& study);

  WorkerSupply workers_;
  std::uint64_t rows_expected_ = 0;  ///< of the table that is being received
};

}  // namespace hawk

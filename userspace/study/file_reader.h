#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "userspace/elf/elf_layout.h"
#include "userspace/study/file_study.h"
#include "userspace/study/worker_supply.h"

namespace hawk {

/// A file, which is open until it has been read, and what is to be found out about it.
struct FileQuestion {
  const ElfLayout* file = nullptr;
  FileWants wants;
};

/// Has code and unwind tables of files read by a process without rights (run_worker), to which it hands descriptors. A
/// worker that crashes, hangs, outgrows its memory or answers what cannot be costs the file that it was reading, and
/// FileStudy::gap says so; another one reads the next. It lives as long as this object: starting it takes as long as
/// reading many files. For one thread at a time.
class FileReader {
 public:
  static constexpr WorkerLimits kLimits = {.processor_seconds = 20, .idle_seconds = 30};
  /// `program`: what to start as the worker; this program, if nothing else is said.
  explicit FileReader(std::string program = kThisProgram, WorkerLimits limits = kLimits)
      : workers_(std::move(program), limits) {}

  /// A reader with a worker of its own.
  FileReader another() const { return FileReader(workers_.program(), workers_.limits()); }
  /// Starts the worker, so that the first question need not wait for it. Why that failed is the answer to the first
  /// question.
  void start() { workers_.get(); }
  /// Has the files read, and calls `use` with the number of each and with what was found, in their order. While `use`
  /// works, the next ones are read.
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

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/report/text_sink.h"

namespace hawk {

/// Makes the report and passes it to `sink` piece by piece, until `sink` refuses one. May be called a second time.
using ReportProducer = std::function<void(const TextSink& sink)>;

/// Where the report goes: stdout, or the file of -o. Opened before the trace, so that an unwritable destination is
/// detected before the trace; written once, at the end.
///
/// A regular file holds either what it held before or the whole report: the report goes to a temporary file next to it
/// that is renamed over it. The file keeps its owner and mode; a symbolic link to it stays one. A file that did not
/// exist is created empty, and removed again if no report comes. Written directly are pipes, devices and sockets,
/// files that are named by a descriptor (/dev/stdout, /dev/fd/N; appended to), and files that cannot be renamed over
/// (a directory where we may create nothing, a single file mounted into a container).
///
/// The directory is looked up once and held open: a path that is changed later cannot redirect the report, with the
/// owner and mode of the original file, to another directory.
class ReportOutput {
 public:
  /// `path`: nullopt or "-" for stdout. Fails with kFile; for a FIFO also when it is not open for reading, because
  /// waiting for a reader would hold up the trace.
  static Result<ReportOutput> make(const std::optional<std::string>& path);

  ReportOutput(ReportOutput&& other) noexcept = default;
  ReportOutput& operator=(ReportOutput&&) = delete;
  /// Removes the file if it was created by us and holds no report.
  ~ReportOutput();

  /// Writes the whole report as `produce` makes it, or fails with kFile. To be called once. Nothing is created or
  /// written before the first piece. A reader of stdout that went away (`| head`) is no failure; SIGPIPE must be
  /// ignored (SignalSource).
  Result<void> write(const ReportProducer& produce);
  /// Writes one report of several, behind those before; for all of them. A regular file is emptied first and is not
  /// replaced. False: the reader is gone.
  Result<bool> write_next(const ReportProducer& produce);
  /// As write(), for a report that is at hand.
  Result<void> write(std::string_view report);

  /// Whether the report goes to a terminal.
  bool is_terminal() const;
  /// Whether the report goes to where our stdout goes.
  bool is_stdout() const { return kind_ == Kind::kStdout; }

 private:
  enum class Kind {
    kStdout,    ///< `file_` is not used
    kOpenFile,  ///< `file_` is written as it is
    kEntry,     ///< what is in `directory_` as `entry_` is renamed over; `file_` is what is there now
  };

  ReportOutput(Kind kind, std::string name) : kind_(kind), name_(std::move(name)) {}
  static Result<ReportOutput> make_stdout();
  static Result<ReportOutput> make_file(const std::string& path);
  Result<bool> write_to_open_file(const ReportProducer& produce);
  Result<bool> try_replace(const ReportProducer& produce);
  void warn_if_moved() const;
  tl::unexpected<Error> failed(std::string_view doing, int error_number) const;

  Kind kind_;
  std::string name_;  ///< as the user knows it, for messages
  UniqueFd directory_;
  std::string entry_;  ///< a name in it
  UniqueFd file_;
  bool created_ = false;  ///< by us, and no report is in it yet; meaningless without `file_`
};

}  // namespace hawk

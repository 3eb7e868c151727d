#include "userspace/recording/recording_writer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "userspace/base/check.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/recording/chunk_file.h"

namespace hawk {
namespace {

std::string hint_for(int error) {
  if (error == ENOENT) return "create the directory first, or choose another name with -o";
  if (error == ENOSPC || error == EDQUOT) return "what was recorded before can be read; free some space";
  return "choose another path with -o";
}

tl::unexpected<Error> failed(const char* doing, const std::string& path, int error) {
  return system_failure(ExitCode::kFile, fmt::format("{} {}", doing, path), error, hint_for(error));
}

/// Removes a file that is to be overwritten. Its name may be a link: that goes, not what it leads to.
Result<void> remove_old(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    return fail(ExitCode::kFile, fmt::format("overwrite {}: not a regular file", path), "choose another name with -o");
  }
  if (::unlink(path.c_str()) != 0) return failed("overwrite", path, errno);
  return {};
}

}  // namespace

Result<RecordingWriter> RecordingWriter::create(const std::string& path, bool overwrite) {
  if (overwrite) HAWK_TRY_VOID(remove_old(path));
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC;
  UniqueFd file(::open(path.c_str(), kFlags, 0666));  // less umask
  if (!file && errno == EEXIST) {
    return fail(ExitCode::kFile, fmt::format("create {}: the file exists", path),
                "--force overwrites it; -o names another");
  }
  if (!file) return failed("create", path, errno);
  RecordingWriter writer(path, std::move(file));
  Result<void> begun = writer.append_bytes(recording::file_header(kRecordingVersion));
  if (begun) return writer;
  ::unlink(path.c_str());  // nothing is in it
  return tl::unexpected<Error>(std::move(begun).error());
}

std::optional<recording::TraceNumber> RecordingWriter::begin_trace() {
  if (has_ended_.size() == recording::kMaxTraces) return std::nullopt;
  has_ended_.push_back(false);
  return static_cast<recording::TraceNumber>(has_ended_.size() - 1);
}

Result<void> RecordingWriter::write(const RecordedState& state, bool is_end, recording::TraceNumber trace) {
  if (trace >= has_ended_.size()) has_ended_.resize(trace + std::size_t{1});
  HAWK_CHECK(!has_ended_[trace], "a trace that has ended does not go on");
  const std::string chunks = recording::chunks_of(encoders_[trace].encode(state), is_end, trace);
  if (is_end) {
    has_ended_[trace] = true;
    encoders_.erase(trace);
  }
  return append_bytes(chunks);
}

Result<void> RecordingWriter::append_bytes(const std::string& bytes) {
  if (const int error = write_all(file_.get(), bytes); error != 0) {
    if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0) {
      // The part of an interval that stays is passed over when it is read.
    }
    return failed("write", path_, error);
  }
  size_ += bytes.size();
  return {};
}

}  // namespace hawk

#include "userspace/study/perf_map_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace hawk {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;  // of one file, in all
constexpr std::size_t kReadAtOnce = 1 << 20;

}  // namespace

void PerfMapFile::read(UniqueFd file) {
  file_ = std::move(file);
  read_bytes_ = 0;
  map_.clear();
  read_on();
}

void PerfMapFile::read_on() {
  struct stat status = {};
  if (!file_ || ::fstat(file_.get(), &status) != 0) return;
  if (static_cast<std::uint64_t>(status.st_size) < read_bytes_) {
    read_bytes_ = 0;
    map_.clear();
  }
  std::string text(kReadAtOnce, '\0');
  while (read_bytes_ < kMaxBytes) {
    const ssize_t got = ::pread(file_.get(), text.data(), text.size(), static_cast<off_t>(read_bytes_));
    if (got <= 0) return;
    map_.add(std::string_view(text).substr(0, static_cast<std::size_t>(got)));
    read_bytes_ += static_cast<std::uint64_t>(got);
  }
}

std::vector<SourceFrame> PerfMapFile::frames(std::uint64_t address) const {
  std::optional<SourceFrame> frame = map_.find(address);
  return frame ? std::vector<SourceFrame>{*std::move(frame)} : std::vector<SourceFrame>{};
}

}  // namespace hawk

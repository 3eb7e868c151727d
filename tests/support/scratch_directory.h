#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hawk {

/// A directory that is removed with all it holds.
class ScratchDirectory {
 public:
  /// Fresh, and empty. `mode` as in chmod(2).
  explicit ScratchDirectory(mode_t mode = 0700) {
    path_ = (std::filesystem::temp_directory_path() / "hawktrace-test-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr || ::chmod(path_.c_str(), mode) != 0) {
      throw std::runtime_error("a scratch directory");
    }
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  /// Of a file in it.
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace hawk

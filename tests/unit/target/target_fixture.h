#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/target/elf_image.h"
#include "userspace/target/function_walk.h"

namespace hawk::testing {

/// Path of a file built from tests/unit/target/fixtures.
std::string fixture_path(const std::string& name);
/// Opens a file that must be a readable ELF file.
ElfImage open_image(const std::string& path);
/// An image of bytes that exist in memory only.
Result<ElfImage> image_of_bytes(const std::vector<std::uint8_t>& bytes);
std::vector<std::uint8_t> bytes_of_file(const std::string& path);
/// The named function; a failed check when the file does not define it exactly once.
FunctionExtent extent_of(const ElfImage& image, std::string_view name);
/// What a shell command prints. A failing command fails the test.
std::string output_of(const std::string& command);

/// A directory that is removed with all it holds.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory();

  const std::string& path() const { return path_; }
  /// Writes a file below it, making directories; returns its path.
  std::string write(const std::string& name, const std::string& content, bool executable = false) const;

 private:
  std::string path_;
};

}  // namespace hawk::testing

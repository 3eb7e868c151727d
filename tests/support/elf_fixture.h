#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "userspace/code/function_walk.h"
#include "userspace/elf/elf_image.h"

namespace hawk::testing {

/// Path of a file built from tests/support/elf_fixtures.
std::string fixture_path(const std::string& name);
/// Opens a file that must be a readable ELF file.
ElfImage open_image(const std::string& path);
/// An image of bytes that exist in memory only.
Result<ElfImage> image_of_bytes(const std::vector<std::uint8_t>& bytes);
std::vector<std::uint8_t> bytes_of_file(const std::string& path);
/// The same ELF file, as strip --strip-section-headers leaves it.
std::vector<std::uint8_t> without_section_headers(std::vector<std::uint8_t> bytes);
/// The named function; a failed check when the file does not define it exactly once.
FunctionExtent extent_of(const ElfImage& image, std::string_view name);
/// What a shell command prints. A failing command fails the test.
std::string output_of(const std::string& command);

class TemporaryDirectory : public ScratchDirectory {
 public:
  /// Writes a file below it, making directories; returns its path.
  std::string write(const std::string& name, const std::string& content, bool executable = false) const;
};

}  // namespace hawk::testing

// The text of /proc/PID/maps. Paths in it are the target's to choose. What was understood must survive being written
// out as the kernel writes it and read again.
#include <fmt/core.h>

#include <string>

#include "tests/fuzz/fuzz_input.h"
#include "userspace/process/mappings.h"

namespace {

std::string escaped(const std::string& path) {
  std::string text;
  for (const char c : path) text += c == '\n' ? std::string("\\012") : std::string(1, c);
  return text;
}

/// The line that the kernel prints for `mapping`.
std::string line_of(const hawk::Mapping& mapping) {
  return fmt::format("{:08x}-{:08x} r-{}{} {:08x} {:02x}:{:02x} {} {}{}\n", mapping.start, mapping.end,
                     mapping.executable ? 'x' : '-', mapping.shared ? 's' : 'p', mapping.file_offset,
                     mapping.device >> 32, mapping.device & 0xffffffff, mapping.inode, escaped(mapping.path),
                     mapping.deleted ? " (deleted)" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<hawk::Mapping> mappings = hawk::parse_mappings(hawk::fuzz::as_text(data, size));
  std::string printed;
  for (const hawk::Mapping& mapping : mappings) {
    HAWK_CHECK(mapping.start < mapping.end, "a mapping without a byte");
    HAWK_CHECK(!mapping.deleted || mapping.inode != 0, "only a file can be deleted");
    printed += line_of(mapping);
  }
  HAWK_CHECK(hawk::parse_mappings(printed) == mappings, "not what was printed");
  return 0;
}

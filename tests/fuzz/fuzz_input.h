#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "userspace/base/check.h"
#include "userspace/base/unique_fd.h"

/// What every target defines: runs one input through the code under test and returns 0. Anything wrong (a sanitizer's
/// finding, a broken contract) ends the process. The name is libFuzzer's.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace hawk::fuzz {

/// The input as text, which need not be UTF-8.
inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// The pieces between the NUL bytes of `text`: "a\0b" gives two, "" gives one.
inline std::vector<std::string_view> split_at_nul(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::size_t end = text.find('\0'); end != std::string_view::npos; end = text.find('\0')) {
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  pieces.push_back(text);
  return pieces;
}

/// A regular file of these bytes that exists in memory only.
inline UniqueFd file_of_bytes(const std::uint8_t* data, std::size_t size) {
  UniqueFd fd(::memfd_create("fuzz input", MFD_CLOEXEC));
  const ssize_t written = ::write(fd.get(), data, size);
  HAWK_CHECK(written >= 0 && static_cast<std::size_t>(written) == size, "no memory for the input's file");
  return fd;
}

}  // namespace hawk::fuzz

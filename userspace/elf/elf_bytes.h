#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "userspace/base/byte_cursor.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// What an ELF image is read from: a file, or memory. A file is read with pread and never mapped: one that shrinks
/// while we look at it gives short reads, where a mapping would give SIGBUS.
class ElfBytes {
 public:
  explicit ElfBytes(UniqueFd fd);
  /// `memory` must outlive this object.
  explicit ElfBytes(Bytes memory) : memory_(memory), size_bytes_(memory.size()) {}

  int fd() const { return fd_.get(); }
  /// When it was opened.
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// Bytes from `offset` on; fewer where the file ends, none above 256 MiB.
  std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t wanted_bytes) const;
  /// Fills the front of `buffer`; returns how many bytes there were.
  std::size_t read(std::uint64_t offset, std::span<std::uint8_t> buffer) const;

 private:
  UniqueFd fd_;
  Bytes memory_;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace hawk

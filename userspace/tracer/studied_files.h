#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "bpf/holds.h"

namespace hawk {

/// The files known to the BPF programs: a thread that maps one of them is not held (bpf/holds.bpf.h).
class StudiedFiles {
 public:
  /// `map_fd`: of the map studied_files; -1: no thread is held.
  explicit StudiedFiles(int map_fd = -1) : map_fd_(map_fd) {}

  /// No process that maps it needs probes in it.
  void add_without_probes(const hawk_file_key& file);
  /// It has probes. Returns the bit of hawk_target.probed_files_mask that stands for them; 0: there are more such files
  /// than bits.
  std::uint64_t add_with_probes(const hawk_file_key& file);

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;
  void store(const hawk_file_key& file, std::uint32_t what);

  int map_fd_;
  std::map<Key, std::uint32_t> with_probes_;  ///< and their bits
};

}  // namespace hawk

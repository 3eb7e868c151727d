#pragma once

#include <bpf/libbpf.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// The large maps of an object, whose memory the kernel clears for as long as a tenth of the programs takes to check:
/// made by a thread of their own while libbpf fits the programs to the kernel.
class MapsAhead {
 public:
  /// Of an object that is not loaded, whose maps have their sizes.
  explicit MapsAhead(const bpf_object& object);
  MapsAhead(const MapsAhead&) = delete;
  MapsAhead& operator=(const MapsAhead&) = delete;
  ~MapsAhead() = default;

  /// The map of this name, or none: it is not large, or could not be made.
  UniqueFd take(std::string_view name);

 private:
  struct Made {
    std::string name;
    bpf_map_type type;
    std::uint32_t key_bytes, value_bytes, entries, flags;
    UniqueFd fd = {};
  };

  void make_all();

  std::vector<Made> maps_;
  std::jthread thread_;  ///< uses the others
};

}  // namespace hawk

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// What the kernel has under a name.
struct KernelCode {
  std::uint64_t address = 0;  ///< 0: no function has that name
  std::array<std::uint8_t, 8> bytes = {};
};

/// Reads the kernel's own code as it is now, by a BPF program: without /proc/kallsyms, which takes longer to read than
/// all of attaching, and where /dev/mem and the like are locked.
class KernelCodeReader {
 public:
  KernelCodeReader();

  /// nullopt: the kernel does not say (before 5.16, or where it hides addresses from root: kernel.kptr_restrict=2).
  std::optional<KernelCode> read(std::string_view name) const;

 private:
  UniqueFd program_;
};

}  // namespace hawk

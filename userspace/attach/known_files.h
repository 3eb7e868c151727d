#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "userspace/attach/module_map.h"
#include "userspace/elf/elf_layout.h"

namespace hawk {

/// What has been found out about files, for the next process that has mapped one of them. Each is kept open: its inode
/// number is no other file's meanwhile.
template <class Found>
class KnownFiles {
 public:
  /// nullptr: nothing is known of the module's file, or its content has changed since.
  const Found* find(const MappedModule& module) const {
    const auto known = by_state_.find(key_of(module));
    return known != by_state_.end() && known->second.image->fd() >= 0 ? &known->second.found : nullptr;
  }
  /// Without effect for a module that has no open file.
  void add(const MappedModule& module, Found found) {
    // Those of a service; a system that is built has a few hundred.
    constexpr std::size_t kMost = 1024;
    if (!module.image || module.image->fd() < 0) return;
    if (by_state_.size() >= kMost) by_state_.clear();
    by_state_.insert_or_assign(key_of(module), Known{module.image, std::move(found)});
  }

 private:
  struct Known {
    std::shared_ptr<ElfLayout> image;
    Found found;
  };
  /// See FileState.
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t>;
  static Key key_of(const MappedModule& module) {
    return {module.file.file.device, module.file.file.inode, module.file.size_bytes, module.file.modified_ns};
  }

  std::map<Key, Known> by_state_;
};

}  // namespace hawk

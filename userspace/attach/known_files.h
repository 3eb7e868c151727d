#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "userspace/attach/module_map.h"

namespace hawk {

/// A cache of results about files, for the next process that has mapped one of them. A file is identified by the data
/// of stat, including the time of change: the inode number of a deleted file may be reused, but not with the same
/// time.
template <class Found>
class KnownFiles {
 public:
  /// nullptr: the module's file is not in the cache, or its content has changed since.
  const Found* find(const MappedModule& module) const {
    const auto known = module.image ? by_state_.find(key_of(module)) : by_state_.end();
    return known != by_state_.end() ? &known->second : nullptr;
  }
  /// Without effect for a module that has no ELF file.
  void add(const MappedModule& module, Found found) {
    // Those of a service; a system that is built has a few hundred.
    constexpr std::size_t kMost = 1024;
    if (!module.image) return;
    if (by_state_.size() >= kMost) by_state_.clear();
    by_state_.insert_or_assign(key_of(module), std::move(found));
  }

 private:
  using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::int64_t, std::int64_t>;
  static Key key_of(const MappedModule& module) {
    return {module.file.file.device, module.file.file.inode, module.file.size_bytes, module.file.modified_ns,
            module.changed_ns};
  }

  std::map<Key, Found> by_state_;
};

}  // namespace hawk

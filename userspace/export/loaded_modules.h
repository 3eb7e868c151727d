#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "userspace/export/exported_stacks.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A module where it was loaded, as far as stacks show.
struct LoadedModule {
  ModuleId module{};
  std::uint64_t bias = 0;   ///< a run-time address less the module's own
  std::uint64_t start = 0;  ///< of the pages that stacks pass through
  std::uint64_t limit = 0;
  bool operator==(const LoadedModule&) const = default;

  /// Of `start` in the file, for files in which code lies where its addresses say, as linkers make them.
  std::uint64_t file_offset() const { return start - bias; }
};

/// The modules that some stacks pass through, the program itself first.
class LoadedModules {
 public:
  explicit LoadedModules(const ExportedStacks& stacks);

  const std::vector<LoadedModule>& all() const { return modules_; }
  /// The index in all() of the one that `location`, which has a module, is in.
  std::size_t index_of(const Location& location) const { return indexes_.at(key_of(location)); }

 private:
  using Key = std::pair<ModuleId, std::uint64_t>;
  static Key key_of(const Location& location) { return {*location.module, location.address - location.module_offset}; }
  std::vector<LoadedModule> modules_;
  std::map<Key, std::size_t> indexes_;
};

}  // namespace hawk

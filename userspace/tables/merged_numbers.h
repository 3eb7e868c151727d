#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "userspace/base/fibonacci_hash.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A module of one of several processes: the process's index among them, and the module's number there.
struct ModuleOrigin {
  std::size_t part = 0;
  ModuleId module{};
  bool operator==(const ModuleOrigin&) const = default;
};

/// One number for what several processes have in common: modules of one path and build id, locations at one offset of a
/// module, stacks of the same locations. Of files without a build id nothing but their names is known: they are one
/// within a cgroup, whose processes see the same files. What has a number keeps it.
class MergedNumbers {
 public:
  /// From now on it is of this process, whose index among all is `part`.
  void begin(const Snapshot& process, std::size_t part);

  /// Of the process's modules, by their numbers there.
  const std::vector<ModuleId>& modules_of_part() const { return modules_of_part_; }
  ModuleId module_of(ModuleId own) const { return modules_of_part_[static_cast<std::size_t>(own)]; }
  /// The number of one of the process's stacks that is not kNoStack: from 1 on, without gaps.
  StackId number_of(const StackRecord& own);

  const SharedTable<Module>& modules() const { return modules_; }
  /// Their addresses are those of the first process that had them.
  const SharedTable<Location>& locations() const { return locations_; }
  /// What has the number `id`: its frames, its end, and whether it is guessed. It has no counters.
  const StackRecord& stack(StackId id) const { return stacks_[static_cast<std::size_t>(id) - 1]; }
  std::size_t stack_count() const { return stacks_.size(); }

  /// By ModuleId: the first that had it.
  const std::vector<ModuleOrigin>& origins() const { return origins_; }
  /// Which processes have had code in no file at that address, ascending. None: empty.
  const std::vector<std::size_t>& parts_at(std::uint64_t address) const;

 private:
  struct LocationKey {
    std::uint64_t module = 0;  ///< its number plus 1; 0: none
    std::uint64_t at = 0;      ///< offset in it, or address
    bool interrupted = false;
    bool operator==(const LocationKey&) const = default;
  };
  struct LocationHash {
    std::size_t operator()(const LocationKey& key) const {
      const std::uint64_t word = key.at * 2 + (key.interrupted ? 1 : 0);
      return static_cast<std::size_t>(fibonacci_hash(word + key.module * kGoldenRatio, 64));
    }
  };
  void take_modules(const Snapshot& process, std::size_t part);
  void take_location(const Location& own, std::size_t part);

  std::map<std::tuple<std::string, std::string, std::string>, ModuleId> module_numbers_;
  std::unordered_map<LocationKey, LocationId, LocationHash> location_numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> stack_numbers_;  ///< by a hash: the last one that has it
  SharedTable<Module> modules_;
  SharedTable<Location> locations_;
  std::vector<ModuleOrigin> origins_;
  std::vector<StackRecord> stacks_;
  std::vector<std::uint32_t> with_same_hash_;  ///< by stack: the one before it; 0: none
  std::map<std::uint64_t, std::vector<std::size_t>> parts_in_no_file_;
  std::vector<ModuleId> modules_of_part_;
  std::vector<LocationId> locations_of_part_;
  std::vector<LocationId> frames_;  ///< of the stack that is looked up
};

}  // namespace hawk

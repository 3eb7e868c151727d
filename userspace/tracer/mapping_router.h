#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bpf/mapping_events.h"
#include "userspace/process/mappings.h"

namespace hawk {

/// The program that a process began to run.
struct ExecEvent {
  std::string comm;
  std::string path;                 ///< of the executable file; empty: unknown
  std::size_t mappings_before = 0;  ///< so many of MappingChanges::mapped came before it
};

/// A file of which the programs did not know that it needs no probes, and whose mapping they hold a thread for.
struct NewFile {
  hawk_file_key key = {};
  std::uint64_t start = 0;   ///< of the mapping
  std::uint64_t device = 0;  ///< as Mapping has it
  std::uint64_t inode = 0;   ///< the same
};

/// The changes of a process's mappings since the last reading.
struct MappingChanges {
  std::vector<Mapping> mapped;         ///< of code, in order of time; some more than once, and some gone again
  std::vector<NewFile> new_files;      ///< of some of them
  std::optional<ExecEvent> last_exec;  ///< all mappings from before it are gone
  std::size_t execs = 0;               ///< so many programs were begun
  bool read_all = false;               ///< not all is here: read the whole list

  bool is_nothing() const { return mapped.empty() && !last_exec && !read_all; }

  /// Those of `mapped` that are of the program that runs now. Its own file is mapped before the exec is announced.
  std::vector<Mapping> of_last_program() const;
};

/// Sorts the events about mappings by target (Tracer::first_program): the records of all arrive through one
/// ring.
class MappingRouter {
 public:
  /// `keeps_all`: what is announced of targets that follow() has not named is kept for them, too.
  explicit MappingRouter(bool keeps_all = false) : keeps_all_(keeps_all) {}

  /// Keeps what is announced of the target from now on.
  void follow(std::uint32_t target);
  void forget(std::uint32_t target) { changes_.erase(target); }

  void add(const hawk_mapping_event& event);
  /// Records were lost, and their targets are not known.
  void note_lost();
  /// Whether something has been announced of the target since the last take().
  bool has_changes(std::uint32_t target) const;
  /// The events of the target since the last call; nothing for one that is not followed.
  MappingChanges take(std::uint32_t target);

 private:
  bool keeps_all_;
  std::map<std::uint32_t, MappingChanges> changes_;
  bool has_lost_ = false;  ///< records, of targets of which nothing else may have come
};

}  // namespace hawk

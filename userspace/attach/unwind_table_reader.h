#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "userspace/attach/module_map.h"
#include "userspace/elf/elf_image.h"
#include "userspace/process/mappings.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// What .eh_frame says, or .debug_frame where there is no other.
UnwindTable read_unwind_table_of(const ElfImage& image, RuleSet& rules);

/// For the unwind tables of all files together. A desktop's programs and libraries have 20 million rows.
inline constexpr std::uint64_t kMaxRowsInSum = 1u << 25;

/// An unwind table, and how long it took to read.
struct TimedTable {
  UnwindTable table;
  std::chrono::nanoseconds took{};
};
TimedTable time_reading(const ElfImage& image, RuleSet& rules);

/// Reads unwind tables in threads of its own, while the programs are being loaded into the kernel: a process of 200 MB
/// of code has some 250 ms of them.
class UnwindTableReader {
 public:
  /// A file to read.
  struct Source {
    std::string path;
    std::string key;  ///< by which take() finds it
  };
  /// Those with code in `mappings`, the largest first, opened as process `proc_pid` has them (see ModuleMap).
  static std::vector<Source> sources_of(int proc_pid, const std::vector<Mapping>& mappings);
  /// Files by path.
  static std::vector<Source> sources_of(const std::vector<std::string>& paths);
  /// The key of a module's file: for one that is not mapped yet its path.
  static std::string key_of(const MappedModule& module);

  /// Begins to read, in this order, as far as kMaxRowsInSum and memory reach. At least one thread; where the system
  /// allows none, nothing is read.
  UnwindTableReader(std::vector<Source> sources, std::size_t thread_count);
  UnwindTableReader(const UnwindTableReader&) = delete;
  UnwindTableReader& operator=(const UnwindTableReader&) = delete;
  /// Waits for the tables that are being read; what has not been begun is left unread.
  ~UnwindTableReader();

  /// The table of the module's file with the numbers of `rules`, the same set every time; once. Waits until it has been
  /// read; nullopt when it is not among the sources, could not be read, or when what was read is not the module's file.
  std::optional<TimedTable> take(const MappedModule& module, RuleSet& rules);

 private:
  struct Entry {
    Source source;
    bool is_read = false;
    FileState file;                   ///< that was read
    std::optional<TimedTable> table;  ///< with the numbers of its thread's rules
    std::size_t thread = 0;
  };

  void work(std::size_t thread);
  void read_entries(std::size_t thread, RuleSet& rules);
  static std::optional<TimedTable> read(const std::string& path, RuleSet& rules, FileState& file);
  const std::vector<std::uint32_t>& numbers_of(std::size_t thread, RuleSet& rules);

  std::mutex mutex_;
  std::condition_variable read_one_;
  std::vector<Entry> entries_;  ///< never more or fewer
  std::size_t next_ = 0;        ///< entry to be begun
  std::uint64_t rows_read_ = 0;
  std::unordered_map<std::string, std::size_t> by_key_;
  std::vector<std::vector<hawk_rule>> rules_;        ///< by thread and number
  std::vector<std::vector<std::uint32_t>> numbers_;  ///< that take()'s rules have for them
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace hawk

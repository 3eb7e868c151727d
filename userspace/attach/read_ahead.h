#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "userspace/attach/module_map.h"
#include "userspace/process/mappings.h"
#include "userspace/study/file_reader.h"

namespace hawk {

/// For the unwind tables of all files together. A desktop's programs and libraries have 20 million rows.
inline constexpr std::uint64_t kMaxRowsInSum = 1u << 25;

/// Has files read by several workers at once, while the programs are being loaded into the kernel: for a process with
/// 200 MB of code this takes about 250 ms. For one thread.
class ReadAhead {
 public:
  /// A file to read.
  struct Source {
    std::string path;
    std::string key;                 ///< by which take() finds it
    std::uint64_t mapped_bytes = 0;  ///< of its largest mapping with code; 0: not known
  };
  /// Those with code in `mappings`, large ones first, opened as process `proc_pid` has them (see ModuleMap).
  static std::vector<Source> sources_of(int proc_pid, const std::vector<Mapping>& mappings);
  /// Files by path.
  static std::vector<Source> sources_of(const std::vector<std::string>& paths);
  /// The key of a module's file: for one that is not mapped yet its path.
  static std::string key_of(const MappedModule& module);

  /// How many workers are worth their start: another one takes as long to begin as the first does for some megabytes of
  /// code.
  static std::size_t workers_for(const std::vector<Source>& sources);

  /// Begins to read the files in `wants`, in this order, and their tables up to kMaxRowsInSum rows, with that many
  /// workers, the first of which is that of `first`. `first` must not be used until wait() has returned or this object
  /// is destroyed. If the system allows no threads, nothing is read.
  ReadAhead(std::vector<Source> sources, FileWants wants, FileReader& first, std::size_t worker_count);
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;
  /// Waits for the files that are being read; what has not been begun is left unread.
  ~ReadAhead();

  /// What was found out about the module's file; once. Waits until it has been read; nullopt when it is not among the
  /// sources, could not be opened, or when what was read is not the module's file.
  std::optional<FileStudy> take(const MappedModule& module);
  /// Waits until all has been read.
  void wait();

 private:
  struct Entry {
    Source source;
    bool is_read = false;
    FileState file;  ///< that was read
    std::optional<FileStudy> study;
  };

  struct Opened;
  void work(FileReader& reader);
  std::span<Entry> begin_next();
  static std::vector<Opened> open(std::span<Entry> entries);
  void read(FileReader& reader, std::span<Entry> entries, FileWants wants);
  void finish(Entry& entry, FileState file, std::optional<FileStudy> study);

  FileWants wants_;
  std::mutex mutex_;
  // Who waits is not woken by each of thousands of files.
  const Entry* awaited_ = nullptr;    ///< by take()
  std::condition_variable read_one_;  ///< that one
  std::condition_variable read_all_;
  std::vector<Entry> entries_;  ///< never more or fewer
  std::size_t next_ = 0;        ///< entry to be begun
  std::size_t unread_ = 0;      ///< how many of them are not read
  std::uint64_t rows_read_ = 0;
  std::unordered_map<std::string, std::size_t> by_key_;
  bool stopped_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace hawk

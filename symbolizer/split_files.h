#pragma once

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "symbolizer/dwarf_file.h"
#include "symbolizer/split_addresses.h"

namespace hawk {

/// The half of a unit that the compiler left out of the object file (-gsplit-dwarf).
struct SplitUnit {
  Dwarf_Die entry{};  ///< its own entry, below which its functions are
  SplitAddresses addresses;
};

/// The split files of one linked file: the package FILE.dwp next to it, and a .dwo file for each unit, by the name that
/// the unit's skeleton gives. They are opened as all debug files are, and count only if they carry the skeleton's
/// number.
class SplitFiles {
 public:
  /// `linked`, which lies at `rooted`, must outlive this.
  SplitFiles(const ElfFile& linked, RootedPath rooted) : linked_(&linked), rooted_(std::move(rooted)) {}
  SplitFiles(const SplitFiles&) = delete;
  SplitFiles& operator=(const SplitFiles&) = delete;

  /// The half that belongs to `skeleton`, the own entry of a unit; nullopt when that is no skeleton, or its half is not
  /// found. Lives until drop().
  std::optional<SplitUnit> find(Dwarf_Die* skeleton);
  /// About what the files take that are open.
  std::size_t memory_bytes() const { return memory_bytes_; }
  /// As ElfFile::release(), of all files that are open.
  void release() const;
  /// Closes all files. They are opened again when they are asked for.
  void drop();
  bool empty() const { return files_.empty(); }
  /// Whether so many files are open that they should be dropped.
  bool is_full() const { return files_.size() >= kMostFiles; }
  /// Why less is known than the units refer to; empty when all were found.
  const std::string& gap() const { return gap_; }

 private:
  static constexpr std::size_t kMostFiles = 256;  ///< each takes a descriptor as long as it is open
  struct File {
    ElfFile image;
    std::optional<DwarfFile> dwarf{};
    std::unordered_map<std::uint64_t, std::uint32_t> units{};  ///< number of the unit, by what its skeleton carries
  };
  std::vector<std::string> paths_of(Dwarf_Die* skeleton) const;
  File* open(const std::string& path);
  std::optional<SplitUnit> unit_of(const File& file, std::uint64_t id) const;
  void connect(Dwarf_Die* skeleton, SplitUnit& unit) const;

  const ElfFile* linked_;
  RootedPath rooted_;
  std::map<std::string, std::unique_ptr<File>> files_;  ///< by path; nullptr: cannot be read
  std::size_t memory_bytes_ = 0;
  std::string gap_;
};

}  // namespace hawk

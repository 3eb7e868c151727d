#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/target/elf_image.h"
#include "userspace/target/mappings.h"

namespace hawk {

/// Which file an open descriptor is, by fstat. On btrfs and overlay file systems the device differs from the one that
/// /proc/PID/maps gives for the same file.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A file that is or was mapped executable into the target.
struct MappedModule {
  std::string path;          ///< as the target sees it
  std::string build_id;      ///< lower-case hex, empty without one
  std::uint64_t device = 0;  ///< as /proc/PID/maps gives it
  std::uint64_t inode = 0;   ///< the same; 0 for the vdso, and for a file that is not mapped yet
  FileIdentity file;         ///< as stat gives it
  bool is_vdso = false;
  std::optional<ElfImage> image;  ///< nullopt: the file could not be opened or is no ELF file (and for the vdso)
  int fd = -1;                    ///< of the file, -1 without one; owned by `image`
};

/// Where an address lies.
struct ModuleAddress {
  ModuleId module{};
  std::uint64_t vaddr = 0;  ///< ELF virtual address in the module
};

/// From the first address to one past the last.
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Which files lie where in the target's address space. Files are opened when they are first seen, so that they can
/// still be read when they have been replaced, unmapped, or the target is gone.
class ModuleMap {
 public:
  /// Files are opened through /proc/`proc_pid`/map_files and root: the process, or a living thread of it when its main
  /// thread has exited (ProcessInfo::living_tid).
  explicit ModuleMap(int proc_pid) : proc_pid_(proc_pid) {}

  /// Takes the whole list of mappings in place of the current one. Returns the modules not seen before.
  std::vector<ModuleId> replace_all(const std::vector<Mapping>& mappings);
  /// Takes one mapping more, over whatever was there. Returns its module if that was not seen before.
  std::optional<ModuleId> add(const Mapping& mapping);
  /// nullopt: no executable file mapping there.
  std::optional<ModuleAddress> resolve(std::uint64_t address) const;
  /// The address that ELF virtual address 0 of `module` has now; nullopt when it is not mapped.
  std::optional<std::uint64_t> load_base(ModuleId module) const;
  /// Where the module's code is mapped now.
  std::vector<AddressRange> ranges_of(ModuleId module) const;
  /// Adds a file that will be mapped later, so that it can be prepared. nullopt when it cannot be opened.
  std::optional<ModuleId> expect(const std::string& path);

  const MappedModule& module(ModuleId id) const { return modules_[static_cast<std::size_t>(id)]; }
  std::size_t module_count() const { return modules_.size(); }

 private:
  struct Range {
    std::uint64_t end = 0;
    std::uint64_t file_offset = 0;
    ModuleId module{};
  };

  /// The mapping's module, opened now if it is new; `is_new` tells.
  ModuleId module_of(const Mapping& mapping, bool& is_new);
  void insert(const Mapping& mapping, ModuleId module);
  std::optional<ModuleId> find_file(const FileIdentity& file) const;

  int proc_pid_;
  std::vector<MappedModule> modules_;
  std::map<std::uint64_t, Range> ranges_;  ///< by first address; executable mappings only, never overlapping
};

}  // namespace hawk

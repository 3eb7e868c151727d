#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "userspace/base/address_range.h"
#include "userspace/base/fibonacci_hash.h"
#include "userspace/base/ids.h"
#include "userspace/base/regular_file.h"
#include "userspace/elf/elf_layout.h"
#include "userspace/process/mappings.h"

namespace hawk {

/// The path of the kernel's image in every process.
inline constexpr std::string_view kVdso = "[vdso]";

/// A file that is or was mapped executable into the target.
struct MappedModule {
  std::string path;                          ///< as the target sees it
  std::string build_id;                      ///< lower-case hex, empty without one
  std::uint64_t device = 0;                  ///< as /proc/PID/maps gives it
  std::uint64_t inode = 0;                   ///< the same; 0 for the vdso, and for a file that is not mapped yet
  FileState file;                            ///< as stat gave it when it was opened
  std::int64_t changed_ns = 0;               ///< the same: see RegularFile
  std::uint32_t owner = 0;                   ///< the same: user id
  std::shared_ptr<const UniqueFd> original;  ///< see RegularFile; nullptr: none
  int open_error = 0;                        ///< errno, where the file could not be opened
  std::optional<ModuleId> earlier = {};      ///< the same file, before it was written to
  bool is_vdso = false;
  /// Whether it could not be opened because it was unmapped, or the target had ended, by then.
  bool is_gone() const { return open_error == ENOENT || open_error == ESRCH; }

  /// The file that is to be probed, as a descriptor; -1: it is not open.
  int probed_fd() const {
    if (original) return original->get();
    return image ? image->fd() : -1;
  }

  /// nullptr: the file could not be opened or is no ELF file (and for the vdso). Copies have it in common; the file is
  /// closed once the last of them has let go of it.
  std::shared_ptr<const ElfLayout> image;
};

/// Where an address lies.
struct ModuleAddress {
  ModuleId module{};
  std::uint64_t vaddr = 0;  ///< ELF virtual address in the module
};

/// An executable mapping of a module, or a part of one.
struct MappedCode {
  std::uint64_t start = 0;  ///< first address
  std::uint64_t end = 0;    ///< one past the last
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;  ///< as /proc or the event gave it; not always that of the module
  std::uint64_t inode = 0;   ///< the same
  ModuleId module{};
  std::optional<std::uint64_t> bias;  ///< see ElfSegments::code_bias
};

/// Leads to the file of the mapping at these addresses, whatever its name has become (proc(5)).
std::string map_files_path(int pid, std::uint64_t start, std::uint64_t end);

/// The files in the target's address space and their addresses. Files are opened when they are first seen, and kept
/// open as long as there are not too many, so that they can still be read after they have been replaced or unmapped, or
/// the target has ended. Not thread-safe.
class ModuleMap {
 public:
  /// Files are opened through /proc/`proc_pid`/map_files and root: the process, or a living thread of it when its main
  /// thread has exited (ProcessInfo::living_tid). Beyond `max_open_files` a file is closed once it has been studied.
  explicit ModuleMap(int proc_pid, std::size_t max_open_files = std::numeric_limits<std::size_t>::max());

  /// For a process that was just forked from that of `maker`.
  ModuleMap(const ModuleMap& maker, int proc_pid) : ModuleMap(maker) { proc_pid_ = proc_pid; }

  /// Whether something is mapped wherever there is code now. `mappings`: sorted by address.
  [[nodiscard]] bool has_all_code(const std::vector<Mapping>& mappings) const;

  /// Forgets where files are mapped, not the files: the whole list of mappings follows, by add().
  void forget_mappings();
  /// Adds a mapping, replacing any that overlap. Returns its module if that is new, or was written to since it was last
  /// mapped; its file is open until settle().
  std::optional<ModuleId> add(const Mapping& mapping);
  /// Adds a file that will be mapped later, so that it can be prepared. nullopt when it cannot be opened.
  std::optional<ModuleId> expect(const std::string& path);
  /// The module's file has been read completely and may be closed.
  void settle(ModuleId id);

  /// Of the files that are open though nothing of them is mapped now: those that still have a name are to be closed,
  /// for they can be found again, and so are all but the last `max_deleted` of those that have none, whose disk space
  /// is taken as long as they are open. (Those that have been mapped last have the highest numbers.)
  struct Unmapped {
    std::vector<ModuleId> named;
    std::vector<ModuleId> deleted;
  };
  Unmapped unmapped(std::size_t max_deleted) const;
  /// Releases the module's file, which is closed unless another process's module uses it too.
  void close_file(ModuleId id);
  std::size_t open_files() const { return open_files_; }
  /// Releases the memory that makes resolve() fast.
  void forget_look_ups() const { look_ups_.forget(); }

  /// nullopt: no executable file mapping there. About 5 ns for addresses in recently used pages.
  std::optional<ModuleAddress> resolve(std::uint64_t address) const;
  /// The address that ELF virtual address 0 of `module` has now; nullopt when it is not mapped.
  std::optional<std::uint64_t> load_base(ModuleId module) const;
  /// Where code is mapped now: by address, not overlapping.
  const std::vector<MappedCode>& code() const { return ranges_; }
  /// How often code() has been changed, or set to what it was before.
  std::uint64_t changes() const { return changes_; }
  /// Where the module's code is mapped now.
  std::vector<AddressRange> ranges_of(ModuleId module) const;
  /// A descriptor of the caller's own for the module's file. A file that has been closed is opened again if it can
  /// still be found; none otherwise, for one that was written to since, and for the vdso.
  UniqueFd open_file(ModuleId id) const;

  const MappedModule& module(ModuleId id) const { return modules_[static_cast<std::size_t>(id)]; }
  std::size_t module_count() const { return modules_.size(); }

 private:
  ModuleMap(const ModuleMap&) = default;

  /// What the last look-up in a page found. Mappings begin and end at pages.
  struct RememberedPage {
    std::uint64_t page = ~std::uint64_t{0};
    std::uint32_t range = 0;  ///< index into ranges_, or kNoRange
  };
  /// What makes look-ups fast. A copy begins without.
  struct LookUps {
    LookUps() = default;
    LookUps(const LookUps& /*other*/) {}
    LookUps& operator=(const LookUps&) = delete;
    ~LookUps() = default;
    void forget() {
      // Not by assigning {}, which would keep the memory.
      std::vector<std::uint64_t>().swap(ends);
      std::vector<RememberedPage>().swap(remembered);
    }

    std::vector<std::uint64_t> ends;         ///< of `ranges_`, close together for the search
    std::vector<RememberedPage> remembered;  ///< empty since the last change of `ranges_`
  };
  struct IdentityHash {
    std::size_t operator()(const FileIdentity& file) const {
      return static_cast<std::size_t>(fibonacci_hash(file.inode, 64) ^ file.device);
    }
  };
  using Index = std::unordered_map<FileIdentity, ModuleId, IdentityHash>;

  /// The mapping's module, opened now if it is new, as `is_new` says.
  ModuleId module_of(const Mapping& mapping, bool& is_new);
  bool is_still(const MappedModule& module, const Mapping& mapping) const;
  ModuleId add_module(MappedModule module, RegularFile file);
  void insert(const Mapping& mapping, ModuleId module);
  MappedCode part_of(const MappedCode& whole, std::uint64_t start, std::uint64_t end) const;
  const MappedCode* range_at(std::uint64_t address) const;
  void prepare_look_ups() const;

  int proc_pid_;
  std::size_t max_open_files_;
  std::size_t open_files_ = 0;
  std::vector<MappedModule> modules_;
  Index by_mapping_;  ///< by device and inode as /proc/PID/maps gives them
  Index by_file_;     ///< by device and inode as stat gives them
  std::optional<ModuleId> vdso_;
  std::vector<MappedCode> ranges_;
  std::uint64_t changes_ = 0;
  mutable LookUps look_ups_;
};

}  // namespace hawk

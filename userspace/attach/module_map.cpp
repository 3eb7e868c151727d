#include "userspace/attach/module_map.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

namespace hawk {
namespace {

bool is_interesting(const Mapping& mapping) {
  return mapping.executable && (mapping.inode != 0 || mapping.path == kVdso);
}

constexpr int kPageShift = 12;
/// Their memory stays within the CPU's second-level cache.
constexpr unsigned kRememberedPagesBits = 13;
constexpr std::size_t kRememberedPages = std::size_t{1} << kRememberedPagesBits;
constexpr std::uint32_t kNoRange = std::numeric_limits<std::uint32_t>::max();

/// How many of the sorted numbers are at most `limit`. No branch depends on the numbers: none could be
/// predicted.
std::size_t count_up_to(const std::vector<std::uint64_t>& sorted, std::uint64_t limit) {
  const std::uint64_t* base = sorted.data();
  for (std::size_t left = sorted.size(); left > 0;) {
    const std::size_t half = (left + 1) / 2;
    base += half * static_cast<std::size_t>(base[half - 1] <= limit);
    left -= half;
  }
  return static_cast<std::size_t>(base - sorted.data());
}

std::string root_of(int pid) { return fmt::format("/proc/{}/root", pid); }

/// Opens the mapped file itself: map_files leads to it even if it has been renamed; the paths are used if the target
/// has ended since then, and must still name the same file. The device is not compared: see FileIdentity. `error`: why
/// the mapped file could not be opened.
RegularFile open_mapped_file(int pid, const Mapping& mapping, int& error) {
  const auto is_it = [&](RegularFile file) {
    return file.fd && file.state.file.inode == mapping.inode ? std::move(file) : RegularFile{};
  };
  RegularFile linked = find_regular_file(map_files_path(pid, mapping.start, mapping.end));
  error = linked.fd ? 0 : errno;
  RegularFile opened = is_it(std::move(linked));
  if (!opened.fd) opened = is_it(find_regular_file_below(root_of(pid), mapping.path));
  if (!opened.fd) opened = is_it(find_regular_file_below("", mapping.path));
  if (opened.fd) error = 0;
  return opened;
}

}  // namespace

std::string map_files_path(int pid, std::uint64_t start, std::uint64_t end) {
  return fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, start, end);
}

ModuleMap::ModuleMap(int proc_pid, std::size_t max_open_files) : proc_pid_(proc_pid), max_open_files_(max_open_files) {}

ModuleId ModuleMap::add_module(MappedModule module, RegularFile file) {
  const ModuleId id{static_cast<std::uint32_t>(modules_.size())};
  if (module.inode != 0) by_mapping_.insert_or_assign({module.device, module.inode}, id);
  module.file = file.state;
  module.changed_ns = file.changed_ns;
  module.owner = file.owner;
  if (file.original) module.original = std::make_shared<UniqueFd>(std::move(file.original));
  if (module.file.file.inode != 0) by_file_.insert_or_assign(module.file.file, id);
  if (module.is_vdso) vdso_ = id;
  if (file.fd) {
    Result<ElfLayout> image = ElfLayout::make(std::move(file.fd), module.path);
    if (image) {
      module.build_id = image->build_id();
      module.image = std::make_shared<const ElfLayout>(std::move(*image));
      ++open_files_;
    }
  }
  modules_.push_back(std::move(module));
  return id;
}

/// Whether the mapping is of the file, and of the content, from which `module` was made. An inode number is reused
/// after its file is deleted, so that an old mapping proves nothing unless the file is still open.
bool ModuleMap::is_still(const MappedModule& module, const Mapping& mapping) const {
  const std::optional<FileState> now = state_of(map_files_path(proc_pid_, mapping.start, mapping.end));
  if (module.file.file.inode == 0) return !now || !module.is_gone();
  if (!now) return module.image && module.image->fd() >= 0;
  return now->file != module.file.file || *now == module.file;
}

ModuleId ModuleMap::module_of(const Mapping& mapping, bool& is_new) {
  is_new = false;
  const bool is_vdso = mapping.path == kVdso;
  if (is_vdso && vdso_) return *vdso_;
  const FileIdentity mapped = {.device = mapping.device, .inode = mapping.inode};
  const auto known = by_mapping_.find(mapped);
  if (!is_vdso && known != by_mapping_.end() && is_still(module(known->second), mapping)) return known->second;
  MappedModule module;
  RegularFile opened;
  if (!is_vdso) opened = open_mapped_file(proc_pid_, mapping, module.open_error);
  const auto same_file = opened.fd ? by_file_.find(opened.state.file) : by_file_.end();
  if (same_file != by_file_.end() && this->module(same_file->second).file == opened.state) {
    // Expected, or mapped under another device number: never probed twice.
    MappedModule& other = modules_[static_cast<std::size_t>(same_file->second)];
    other.device = mapping.device;
    other.inode = mapping.inode;
    by_mapping_.insert_or_assign(mapped, same_file->second);
    return same_file->second;
  }
  is_new = true;
  if (same_file != by_file_.end()) module.earlier = same_file->second;
  module.path = mapping.path;
  module.device = mapping.device;
  module.inode = mapping.inode;
  module.is_vdso = is_vdso;
  return add_module(std::move(module), std::move(opened));
}

MappedCode ModuleMap::part_of(const MappedCode& whole, std::uint64_t start, std::uint64_t end) const {
  MappedCode part = whole;
  part.start = start;
  part.end = end;
  part.file_offset += start - whole.start;
  const MappedModule& owner = module(whole.module);
  // The vdso is one segment whose file offsets are its virtual addresses.
  part.bias = owner.image ? owner.image->code_bias(part.file_offset, end - start) : 0;
  return part;
}

void ModuleMap::insert(const Mapping& mapping, ModuleId module) {
  look_ups_.remembered.clear();
  ++changes_;
  const auto first = std::partition_point(ranges_.begin(), ranges_.end(),
                                          [&](const MappedCode& range) { return range.end <= mapping.start; });
  const auto last =
      std::partition_point(first, ranges_.end(), [&](const MappedCode& range) { return range.start < mapping.end; });
  const MappedCode added = {.start = mapping.start,
                            .end = mapping.end,
                            .file_offset = mapping.file_offset,
                            .device = mapping.device,
                            .inode = mapping.inode,
                            .module = module,
                            .bias = {}};
  std::vector<MappedCode> pieces;
  if (first != last && first->start < mapping.start) pieces.push_back(part_of(*first, first->start, mapping.start));
  pieces.push_back(part_of(added, mapping.start, mapping.end));
  if (first != last && std::prev(last)->end > mapping.end) {
    pieces.push_back(part_of(*std::prev(last), mapping.end, std::prev(last)->end));
  }
  ranges_.insert(ranges_.erase(first, last), pieces.begin(), pieces.end());
}

bool ModuleMap::has_all_code(const std::vector<Mapping>& mappings) const {
  return std::all_of(ranges_.begin(), ranges_.end(), [&](const MappedCode& range) {
    const auto at = std::partition_point(mappings.begin(), mappings.end(),
                                         [&](const Mapping& mapping) { return mapping.end <= range.start; });
    return at != mappings.end() && at->start < range.end;
  });
}

void ModuleMap::forget_mappings() {
  ranges_.clear();
  look_ups_.remembered.clear();
  ++changes_;
}

std::optional<ModuleId> ModuleMap::add(const Mapping& mapping) {
  if (!is_interesting(mapping)) return std::nullopt;
  bool is_new = false;
  const ModuleId module = module_of(mapping, is_new);
  insert(mapping, module);
  return is_new ? std::optional<ModuleId>(module) : std::nullopt;
}

void ModuleMap::settle(ModuleId id) {
  if (open_files_ > max_open_files_) close_file(id);
}

void ModuleMap::close_file(ModuleId id) {
  MappedModule& closed = modules_[static_cast<std::size_t>(id)];
  if (!closed.image || closed.image->fd() < 0) return;
  closed.image = std::make_shared<const ElfLayout>(closed.image->without_file());
  closed.original.reset();
  --open_files_;
}

ModuleMap::Unmapped ModuleMap::unmapped(std::size_t max_deleted) const {
  std::vector<bool> is_mapped(modules_.size());
  for (const MappedCode& range : ranges_) is_mapped[static_cast<std::size_t>(range.module)] = true;
  Unmapped found;
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const MappedModule& module = modules_[i];
    if (is_mapped[i] || module.inode == 0 || !module.image || module.image->fd() < 0) continue;
    struct stat status = {};
    const bool is_deleted = ::fstat(module.probed_fd(), &status) == 0 && status.st_nlink == 0;
    (is_deleted ? found.deleted : found.named).push_back(ModuleId{static_cast<std::uint32_t>(i)});
  }
  found.deleted.resize(found.deleted.size() - std::min(found.deleted.size(), max_deleted));
  return found;
}

void ModuleMap::prepare_look_ups() const {
  look_ups_.remembered.resize(kRememberedPages);
  look_ups_.ends.clear();
  for (const MappedCode& range : ranges_) look_ups_.ends.push_back(range.end);
}

const MappedCode* ModuleMap::range_at(std::uint64_t address) const {
  if (look_ups_.remembered.empty()) prepare_look_ups();
  const std::uint64_t page = address >> kPageShift;
  // Libraries often lie at like distances.
  RememberedPage& remembered = look_ups_.remembered[fibonacci_hash(page, kRememberedPagesBits)];
  if (remembered.page != page) {
    const std::size_t index = count_up_to(look_ups_.ends, address);
    const bool found = index < ranges_.size() && ranges_[index].start <= address;
    remembered = {page, found ? static_cast<std::uint32_t>(index) : kNoRange};
  }
  return remembered.range == kNoRange ? nullptr : &ranges_[remembered.range];
}

std::optional<ModuleAddress> ModuleMap::resolve(std::uint64_t address) const {
  const MappedCode* range = range_at(address);
  if (range == nullptr) return std::nullopt;
  const std::uint64_t file_offset = address - range->start + range->file_offset;
  if (range->bias) return ModuleAddress{.module = range->module, .vaddr = file_offset + *range->bias};
  const MappedModule& found = module(range->module);
  const std::optional<std::uint64_t> vaddr = found.image ? found.image->vaddr_of(file_offset) : std::nullopt;
  return ModuleAddress{.module = range->module, .vaddr = vaddr.value_or(file_offset)};
}

std::optional<std::uint64_t> ModuleMap::load_base(ModuleId id) const {
  const MappedModule& wanted = module(id);
  if (!wanted.image) return std::nullopt;
  for (const MappedCode& range : ranges_) {
    if (range.module != id) continue;
    const std::optional<std::uint64_t> vaddr = wanted.image->vaddr_of(range.file_offset);
    if (vaddr) return range.start - *vaddr;
  }
  return std::nullopt;
}

std::vector<AddressRange> ModuleMap::ranges_of(ModuleId id) const {
  std::vector<AddressRange> found;
  for (const MappedCode& range : ranges_) {
    if (range.module == id) found.push_back({.start = range.start, .end = range.end});
  }
  return found;
}

std::optional<ModuleId> ModuleMap::expect(const std::string& path) {
  RegularFile file = find_regular_file(path);
  if (!file.fd) return std::nullopt;
  const auto known = by_file_.find(file.state.file);
  if (known != by_file_.end() && module(known->second).file == file.state) return known->second;
  MappedModule module;
  module.path = path;
  return add_module(std::move(module), std::move(file));
}

UniqueFd ModuleMap::open_file(ModuleId id) const {
  const MappedModule& wanted = module(id);
  if (!wanted.image) return {};
  if (wanted.image->fd() >= 0) {
    const UniqueFd same(::fcntl(wanted.probed_fd(), F_DUPFD_CLOEXEC, 0));
    UniqueFd fd(::fcntl(wanted.image->fd(), F_DUPFD_CLOEXEC, 0));
    return same && state_of(same) == wanted.file ? std::move(fd) : UniqueFd();
  }
  const auto is_it = [&](const RegularFile& file) { return file.fd && file.state == wanted.file; };
  for (const AddressRange& range : ranges_of(id)) {
    RegularFile file = find_regular_file(map_files_path(proc_pid_, range.start, range.end));
    if (is_it(file)) return std::move(file.fd);
  }
  for (const std::string& root : {root_of(proc_pid_), std::string()}) {
    RegularFile file = find_regular_file_below(root, wanted.path);
    if (is_it(file)) return std::move(file.fd);
  }
  return {};
}

}  // namespace hawk

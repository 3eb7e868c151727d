#include "userspace/target/module_map.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <utility>

namespace hawk {
namespace {

constexpr std::string_view kVdso = "[vdso]";

bool is_interesting(const Mapping& mapping) {
  return mapping.executable && (mapping.inode != 0 || mapping.path == kVdso);
}

UniqueFd open_read_only(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

std::optional<FileIdentity> identify(const UniqueFd& fd) {
  struct stat status;
  if (!fd || ::fstat(fd.get(), &status) != 0) return std::nullopt;
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

/// Whether `fd` is the file that was mapped. The device is left out: see FileIdentity.
bool is_file(const UniqueFd& fd, std::uint64_t inode) {
  const std::optional<FileIdentity> file = identify(fd);
  return file && file->inode == inode;
}

/// Opens the mapped file itself: map_files leads to it whatever its name has become; the paths serve when the target
/// has ended since, and must then still name the same file.
UniqueFd open_mapped_file(int pid, const Mapping& mapping) {
  const std::string candidates[] = {
      fmt::format("/proc/{}/map_files/{:x}-{:x}", pid, mapping.start, mapping.end),
      fmt::format("/proc/{}/root{}", pid, mapping.path),
      mapping.path,
  };
  for (const std::string& candidate : candidates) {
    UniqueFd fd = open_read_only(candidate);
    if (is_file(fd, mapping.inode)) return fd;
  }
  return {};
}

void set_image(MappedModule& module, UniqueFd fd) {
  if (!fd) return;
  const int number = fd.get();
  Result<ElfImage> image = ElfImage::make(std::move(fd), module.path);
  if (!image) return;
  module.build_id = image->build_id();
  module.image.emplace(std::move(*image));
  module.fd = number;
}

}  // namespace

ModuleId ModuleMap::module_of(const Mapping& mapping, bool& is_new) {
  is_new = false;
  const bool is_vdso = mapping.path == kVdso;
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    const MappedModule& known = modules_[i];
    const bool same = is_vdso ? known.is_vdso : known.inode == mapping.inode && known.device == mapping.device;
    if (same) return ModuleId(i);
  }
  UniqueFd fd;
  if (!is_vdso) fd = open_mapped_file(proc_pid_, mapping);
  const std::optional<FileIdentity> file = identify(fd);
  if (const std::optional<ModuleId> known = file ? find_file(*file) : std::nullopt) {
    // Expected, or mapped under another device number: never probed twice.
    modules_[static_cast<std::size_t>(*known)].device = mapping.device;
    modules_[static_cast<std::size_t>(*known)].inode = mapping.inode;
    return *known;
  }
  is_new = true;
  MappedModule module;
  module.path = mapping.path;
  module.device = mapping.device;
  module.inode = mapping.inode;
  module.file = file.value_or(FileIdentity{});
  module.is_vdso = is_vdso;
  set_image(module, std::move(fd));
  modules_.push_back(std::move(module));
  return ModuleId(modules_.size() - 1);
}

std::optional<ModuleId> ModuleMap::find_file(const FileIdentity& file) const {
  for (std::size_t i = 0; i < modules_.size(); ++i) {
    if (modules_[i].file == file) return ModuleId(i);
  }
  return std::nullopt;
}

void ModuleMap::insert(const Mapping& mapping, ModuleId module) {
  auto next = ranges_.lower_bound(mapping.start);
  if (next != ranges_.begin()) {
    auto previous = std::prev(next);
    if (previous->second.end > mapping.end) {  // the new mapping lies inside an old one: keep the old one's far part
      Range rest = previous->second;
      rest.file_offset += mapping.end - previous->first;
      ranges_[mapping.end] = rest;
    }
    if (previous->second.end > mapping.start) previous->second.end = mapping.start;
  }
  while (next != ranges_.end() && next->first < mapping.end) {
    Range rest = next->second;
    const std::uint64_t start = next->first;
    next = ranges_.erase(next);
    if (rest.end <= mapping.end) continue;
    rest.file_offset += mapping.end - start;
    next = ranges_.insert_or_assign(mapping.end, rest).first;
    break;
  }
  ranges_[mapping.start] = {.end = mapping.end, .file_offset = mapping.file_offset, .module = module};
}

std::vector<ModuleId> ModuleMap::replace_all(const std::vector<Mapping>& mappings) {
  std::vector<ModuleId> added;
  ranges_.clear();
  for (const Mapping& mapping : mappings) {
    const std::optional<ModuleId> module = add(mapping);
    if (module) added.push_back(*module);
  }
  return added;
}

std::optional<ModuleId> ModuleMap::add(const Mapping& mapping) {
  if (!is_interesting(mapping)) return std::nullopt;
  bool is_new = false;
  const ModuleId module = module_of(mapping, is_new);
  insert(mapping, module);
  return is_new ? std::optional<ModuleId>(module) : std::nullopt;
}

std::optional<ModuleAddress> ModuleMap::resolve(std::uint64_t address) const {
  auto range = ranges_.upper_bound(address);
  if (range == ranges_.begin()) return std::nullopt;
  --range;
  if (address >= range->second.end) return std::nullopt;
  const std::uint64_t file_offset = address - range->first + range->second.file_offset;
  const MappedModule& found = module(range->second.module);
  // The vdso is one segment whose file offsets are its virtual addresses.
  const std::optional<std::uint64_t> vaddr = found.image ? found.image->vaddr_of(file_offset) : file_offset;
  return ModuleAddress{.module = range->second.module, .vaddr = vaddr.value_or(file_offset)};
}

std::optional<std::uint64_t> ModuleMap::load_base(ModuleId id) const {
  const MappedModule& wanted = module(id);
  for (const auto& [start, range] : ranges_) {
    if (range.module != id || !wanted.image) continue;
    const std::optional<std::uint64_t> vaddr = wanted.image->vaddr_of(range.file_offset);
    if (vaddr) return start - *vaddr;
  }
  return std::nullopt;
}

std::vector<AddressRange> ModuleMap::ranges_of(ModuleId id) const {
  std::vector<AddressRange> found;
  for (const auto& [start, range] : ranges_) {
    if (range.module == id) found.push_back({.start = start, .end = range.end});
  }
  return found;
}

std::optional<ModuleId> ModuleMap::expect(const std::string& path) {
  UniqueFd fd = open_read_only(path);
  const std::optional<FileIdentity> file = identify(fd);
  if (!file) return std::nullopt;
  if (const std::optional<ModuleId> known = find_file(*file)) return known;
  MappedModule module;
  module.path = path;
  module.file = *file;
  set_image(module, std::move(fd));
  modules_.push_back(std::move(module));
  return ModuleId(modules_.size() - 1);
}

}  // namespace hawk

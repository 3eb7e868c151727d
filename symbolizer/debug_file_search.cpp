#include "symbolizer/debug_file_search.h"

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/base/regular_file.h"

namespace hawk {
namespace {

constexpr std::string_view kDebugDirectory = "/usr/lib/debug";

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string{} : path.substr(0, slash);
}

/// The target's root first, then ours.
std::vector<std::string> roots_of(const RootedPath& rooted) {
  std::vector<std::string> roots;
  if (!rooted.root.empty()) roots.push_back(rooted.root);
  roots.emplace_back();
  return roots;
}

std::string build_id_path(std::string_view build_id) {
  std::string path = fmt::format("{}/.build-id/", kDebugDirectory);
  for (std::size_t i = 0; i < build_id.size(); ++i) {
    path += fmt::format("{:02x}{}", static_cast<unsigned char>(build_id[i]), i == 0 ? "/" : "");
  }
  return path + ".debug";
}

std::function<UniqueFd(const std::string&, const std::string&)>& opener() {
  static std::function<UniqueFd(const std::string&, const std::string&)> current = open_regular_file_below;
  return current;
}

std::optional<FoundFile> open_candidate(RootedPath rooted) {
  std::optional<ElfFile> file = ElfFile::open(opener()(rooted.root, rooted.path));
  if (!file) return std::nullopt;
  return FoundFile{std::move(*file), std::move(rooted)};
}

std::optional<FoundFile> find_by_build_id(const std::string& build_id, const RootedPath& rooted) {
  if (build_id.size() < 2) return std::nullopt;
  for (const std::string& root : roots_of(rooted)) {
    std::optional<FoundFile> found = open_candidate({root, build_id_path(build_id)});
    if (found && found->file.build_id() == build_id) return found;
  }
  return std::nullopt;
}

/// The checksum that .gnu_debuglink carries is zlib's, over the whole file.
bool has_checksum(int fd, std::uint32_t expected) {
  std::array<unsigned char, 1 << 16> buffer;
  unsigned long checksum = ::crc32(0, nullptr, 0);
  off_t offset = 0;
  while (true) {
    const ssize_t count = TEMP_FAILURE_RETRY(::pread(fd, buffer.data(), buffer.size(), offset));
    if (count < 0) return false;
    if (count == 0) return checksum == expected;
    checksum = ::crc32(checksum, buffer.data(), static_cast<unsigned>(count));
    offset += count;
  }
}

bool belongs_to(const ElfFile& candidate, const std::string& build_id, std::uint32_t checksum) {
  if (!candidate.has_debug_info() && !candidate.has_symtab()) return false;
  const std::string candidate_id = candidate.build_id();
  if (!build_id.empty() && !candidate_id.empty()) return candidate_id == build_id;
  return has_checksum(candidate.fd(), checksum);
}

std::optional<FoundFile> find_by_debuglink(const ElfFile& file, const RootedPath& rooted) {
  const Bytes section = file.section(".gnu_debuglink");
  ByteCursor link(section);
  const std::string name(link.text());
  // Behind the name, at a multiple of four.
  constexpr std::size_t kAlignment = sizeof(std::uint32_t);
  link.skip((link.left() - section.size()) % kAlignment);
  const auto checksum = link.number<std::uint32_t>();
  if (!link.ok() || name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  const std::string directory = directory_of(rooted.path);
  const std::string build_id = file.build_id();
  for (const std::string& root : roots_of(rooted)) {
    for (const std::string& candidate :
         {fmt::format("{}/{}", directory, name), fmt::format("{}/.debug/{}", directory, name),
          fmt::format("{}{}/{}", kDebugDirectory, directory, name)}) {
      std::optional<FoundFile> found = open_candidate({root, candidate});
      if (found && belongs_to(found->file, build_id, checksum)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

void open_debug_files_with(std::function<UniqueFd(const std::string& root, const std::string& path)> wanted) {
  opener() = wanted ? std::move(wanted) : open_regular_file_below;
}

std::optional<FoundFile> find_debug_file(const ElfFile& file, const RootedPath& rooted) {
  std::optional<FoundFile> found = find_by_build_id(file.build_id(), rooted);
  if (found) return found;
  return find_by_debuglink(file, rooted);
}

std::optional<FoundFile> find_alternate_file(const ElfFile& file, const RootedPath& rooted) {
  ByteCursor link(file.section(".gnu_debugaltlink"));
  const std::string name(link.text());
  const std::string build_id(text_of(link.rest()));
  if (name.empty() || build_id.empty()) return std::nullopt;
  std::optional<FoundFile> found = find_by_build_id(build_id, rooted);
  if (found) return found;
  const std::string path = name[0] == '/' ? name : fmt::format("{}/{}", directory_of(rooted.path), name);
  for (const std::string& root : roots_of(rooted)) {
    found = open_candidate({root, path});
    if (found && found->file.build_id() == build_id) return found;
  }
  return std::nullopt;
}

std::optional<ElfFile> find_named_file(const std::string& path, const RootedPath& rooted) {
  for (const std::string& root : roots_of(rooted)) {
    std::optional<FoundFile> found = open_candidate({root, path});
    if (found) return std::move(found->file);
  }
  return std::nullopt;
}

}  // namespace hawk

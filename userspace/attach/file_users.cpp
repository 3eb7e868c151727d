#include "userspace/attach/file_users.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "userspace/base/process_file.h"
#include "userspace/process/mappings.h"
#include "userspace/process/numbered_entries.h"

namespace hawk {
namespace {

std::set<MappedFile> code_files(int pid) {
  std::set<MappedFile> files;
  const Result<std::vector<Mapping>> mappings = read_mappings(pid);
  if (!mappings) return files;
  for (const Mapping& mapping : *mappings) {
    if (mapping.executable && mapping.inode != 0) files.emplace(mapping.device, mapping.inode);
  }
  return files;
}

/// File -> number of processes that map it, of `files`, if there are any; the files with the highest numbers.
std::map<MappedFile, std::size_t> most_common_files(std::span<const int> targets, const std::set<MappedFile>& files,
                                                    std::size_t& most) {
  std::map<MappedFile, std::size_t> counts;
  for (const int pid : targets) {
    for (const MappedFile& file : code_files(pid)) {
      if (files.empty() || files.contains(file)) most = std::max(most, ++counts[file]);
    }
  }
  std::erase_if(counts, [&](const auto& count) { return count.second < most; });
  for (auto& [file, count] : counts) count = 0;
  return counts;
}

}  // namespace

FileUsers count_file_users(std::span<const int> targets, const LinkCosts& costs, const std::set<MappedFile>& files) {
  FileUsers users;
  std::map<MappedFile, std::size_t> others = most_common_files(targets, files, users.targets);
  const std::size_t enough = most_others_to_count(users.targets, costs);
  for (const int pid : numbered_entries(open_process_file("/proc"))) {
    if (users.others >= enough) break;
    if (std::find(targets.begin(), targets.end(), pid) != targets.end()) continue;
    for (const MappedFile& file : code_files(pid)) {
      const auto count = others.find(file);
      if (count != others.end()) users.others = std::max(users.others, ++count->second);
    }
  }
  return users;
}

}  // namespace hawk

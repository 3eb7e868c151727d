#pragma once

#include <fmt/core.h>
#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "userspace/code/allocator_file.h"

namespace hawk::testing {

/// Where in the process a file's code is.
class MappedCode {
 public:
  MappedCode(pid_t process, const std::string& path, const AllocatorFile& allocator) {
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      std::string range, flags, offset, device, inode, name;
      words >> range >> flags >> offset >> device >> inode >> name;
      if (name != path || flags.find('x') == std::string::npos) continue;
      start_ = std::stoull(range.substr(0, range.find('-')), nullptr, 16);
      end_ = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
      offset_ = std::stoull(offset, nullptr, 16);
    }
    for (const AllocatorFunction& function : allocator.functions) {
      if (function.kind == HAWK_CALL_FREE) continue;
      if (function.yields.points.empty() || function.yields.opens_at_entry) entries_[function.entry_offset] = &function;
      for (const YieldPoint& point : function.yields.points) points_[point.file_offset].push_back({&function, &point});
    }
  }

  bool is_mapped() const { return start_ != 0; }
  std::uint64_t address_of(std::uint64_t offset) const { return start_ + offset - offset_; }
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const {
    return address >= start_ && address < end_ ? std::optional(address - start_ + offset_) : std::nullopt;
  }
  bool is_seen(std::uint64_t address) const {
    const std::optional<std::uint64_t> offset = offset_of(address);
    return offset && (points_.contains(*offset) || entries_.contains(*offset));
  }
  struct At {
    const AllocatorFunction* function;
    const YieldPoint* point;
  };
  const std::vector<At>* points_at(std::uint64_t offset) const {
    const auto found = points_.find(offset);
    return found == points_.end() ? nullptr : &found->second;
  }
  const AllocatorFunction* entry_at(std::uint64_t offset) const {
    const auto found = entries_.find(offset);
    return found == entries_.end() ? nullptr : found->second;
  }

 private:
  std::uint64_t start_ = 0, end_ = 0, offset_ = 0;
  std::map<std::uint64_t, std::vector<At>> points_;
  std::map<std::uint64_t, const AllocatorFunction*> entries_;
};

}  // namespace hawk::testing

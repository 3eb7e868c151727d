#include "userspace/tables/merged_numbers.h"

#include <algorithm>

namespace hawk {

void MergedNumbers::begin(const Snapshot& process, std::size_t part) {
  take_modules(process, part);
  locations_of_part_.clear();
  locations_of_part_.reserve(process.locations.size());
  for (const Location& own : process.locations) take_location(own, part);
}

void MergedNumbers::take_modules(const Snapshot& process, std::size_t part) {
  modules_of_part_.clear();
  for (const Module& module : process.modules) {
    const std::string cgroup = module.build_id.empty() ? process.target().cgroup : "";
    const auto [known, is_new] = module_numbers_.emplace(std::tuple(module.path, module.build_id, cgroup),
                                                         static_cast<ModuleId>(modules_.size()));
    if (is_new) {
      origins_.push_back({part, static_cast<ModuleId>(modules_of_part_.size())});
      modules_.push_back(module);
    }
    modules_of_part_.push_back(known->second);
  }
}

void MergedNumbers::take_location(const Location& own, std::size_t part) {
  Location location = own;
  LocationKey key = {0, own.address, own.interrupted};
  if (own.module) {
    location.module = module_of(*own.module);
    key = {static_cast<std::uint64_t>(*location.module) + 1, own.module_offset, own.interrupted};
  } else {
    for (const std::uint64_t address : {own.address, own.address + (own.interrupted ? 1 : 0)}) {
      std::vector<std::size_t>& parts = parts_in_no_file_[address];
      const auto at = std::lower_bound(parts.begin(), parts.end(), part);
      if (at == parts.end() || *at != part) parts.insert(at, part);
    }
  }
  const auto [known, is_new] = location_numbers_.emplace(key, static_cast<LocationId>(locations_.size()));
  if (is_new) locations_.push_back(location);
  locations_of_part_.push_back(known->second);
}

StackId MergedNumbers::number_of(const StackRecord& own) {
  frames_.clear();
  std::uint64_t hash = static_cast<std::uint64_t>(own.end) * 2 + (own.guessed ? 1 : 0);
  for (const LocationId frame : own.frames) {
    frames_.push_back(locations_of_part_[static_cast<std::size_t>(frame)]);
    hash = hash * 31 + fibonacci_hash(hash ^ static_cast<std::uint64_t>(frames_.back()), 64);
  }
  std::uint32_t& last = stack_numbers_[hash];
  for (std::uint32_t number = last; number != 0; number = with_same_hash_[number - 1]) {
    const StackRecord& known = stacks_[number - 1];
    if (known.end == own.end && known.guessed == own.guessed &&
        std::equal(known.frames.begin(), known.frames.end(), frames_.begin(), frames_.end())) {
      return known.id;
    }
  }
  with_same_hash_.push_back(last);
  last = static_cast<std::uint32_t>(stacks_.size() + 1);
  stacks_.push_back(
      {.id = StackId{last}, .counters = {}, .end = own.end, .guessed = own.guessed, .frames = StackFrames(frames_)});
  return StackId{last};
}

const std::vector<std::size_t>& MergedNumbers::parts_at(std::uint64_t address) const {
  static const std::vector<std::size_t> none;
  const auto found = parts_in_no_file_.find(address);
  return found == parts_in_no_file_.end() ? none : found->second;
}

}  // namespace hawk

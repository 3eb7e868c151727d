#include "userspace/tables/location_table.h"

#include "userspace/base/fibonacci_hash.h"

namespace hawk {

std::size_t LocationTable::Hash::operator()(const Location& frame) const {
  // Nearly always the address alone distinguishes frames; what was mapped there before an exec or a dlclose is rare.
  return static_cast<std::size_t>(fibonacci_hash(frame.address, 48));
}

LocationId LocationTable::number_of(const Location& frame) {
  const auto [entry, is_new] = numbers_.try_emplace(frame, static_cast<LocationId>(locations_.size()));
  if (is_new) locations_.push_back(frame);
  return entry->second;
}

void LocationTable::clear() {
  locations_ = {};
  numbers_.clear();
}

}  // namespace hawk

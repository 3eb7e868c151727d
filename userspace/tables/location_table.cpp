#include "userspace/tables/location_table.h"

namespace hawk {

std::size_t LocationTable::Hash::operator()(const Location& frame) const {
  // Nearly always the address alone tells frames apart; what was mapped there before an exec or a dlclose is rare.
  return static_cast<std::size_t>(frame.address * 0x9E3779B97F4A7C15U >> 16U);
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

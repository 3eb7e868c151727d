#include "userspace/tables/place_table.h"

namespace hawk {

std::size_t PlaceTable::Hash::operator()(const Frame& frame) const {
  // Nearly always the address alone tells frames apart; what was mapped there before an exec or a dlclose is rare.
  return static_cast<std::size_t>(frame.address * 0x9E3779B97F4A7C15U >> 16U);
}

PlaceId PlaceTable::number_of(const Frame& frame) {
  const auto [entry, is_new] = numbers_.try_emplace(frame, static_cast<PlaceId>(places_.size()));
  if (is_new) places_.push_back(frame);
  return entry->second;
}

void PlaceTable::clear() {
  places_.clear();
  numbers_.clear();
}

}  // namespace hawk

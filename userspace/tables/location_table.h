#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Distinct frames, each with a number: a program has few locations that call something, however many stacks pass
/// through them. Numbers count from 0 in the order in which frames were first seen.
class LocationTable {
 public:
  /// The number of `frame`, a new one if no equal frame has one.
  LocationId number_of(const Location& frame);
  /// By number.
  const SharedTable<Location>& locations() const { return locations_; }
  void clear();

 private:
  struct Hash {
    std::size_t operator()(const Location& frame) const;
  };
  SharedTable<Location> locations_;
  std::unordered_map<Location, LocationId, Hash> numbers_;
};

}  // namespace hawk

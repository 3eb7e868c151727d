#pragma once

#include <cstddef>
#include <unordered_map>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Distinct frames, each with a number: a program has few places that call something, however many stacks pass through
/// them. Numbers count from 0 in the order in which frames were first seen.
class PlaceTable {
 public:
  /// The number of `frame`, a new one if no equal frame has one.
  PlaceId number_of(const Frame& frame);
  /// By number.
  const std::vector<Frame>& places() const { return places_; }
  void clear();

 private:
  struct Hash {
    std::size_t operator()(const Frame& frame) const;
  };
  std::vector<Frame> places_;
  std::unordered_map<Frame, PlaceId, Hash> numbers_;
};

}  // namespace hawk

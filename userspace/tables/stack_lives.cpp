#include "userspace/tables/stack_lives.h"

namespace hawk {

BlockHistograms& BlockHistograms::operator+=(const BlockHistograms& other) {
  for (std::size_t i = 0; i < kSizes; ++i) sizes[i] += other.sizes[i];
  for (std::size_t i = 0; i < kLifetimes; ++i) lifetimes[i] += other.lifetimes[i];
  temporary += other.temporary;
  return *this;
}

}  // namespace hawk

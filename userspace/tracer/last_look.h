#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/layout.h"
#include "bpf/probed_places.h"
#include "userspace/base/address_range.h"

namespace hawk {

/// The programs' last look at the probed places of the target, before its memory goes by its end or by an exec. (On
/// kernels before 6.16 that cannot have programs on their functions the memory of a target that ends is gone already.)
class LastLook {
 public:
  /// Mapped memory of the programs, which must live longer.
  LastLook(hawk_state& state, std::span<hawk_probed_place> places) : state_(state), places_(places) {}

  /// Where to look from now on, in place of what was said before: the first HAWK_MAX_PROBED_PLACES. `code`: where these
  /// places lie, one range for each file; anonymous memory that becomes code there is told as a change of the mappings.
  void set(std::span<const hawk_probed_place> places, std::span<const AddressRange> code);
  /// The numbers of those places that had no breakpoint. Each is told once.
  std::vector<std::size_t> take_missing();

 private:
  hawk_state& state_;
  std::span<hawk_probed_place> places_;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hawk {

/// What an unwinder makes of a dump.
struct UnwoundStack {
  /// From the caller of the allocator outwards. HAWK_FRAME_INTERRUPTED is set in the address of an instruction that was
  /// interrupted by a signal.
  std::vector<std::uint64_t> frames;
  bool is_complete = false;  ///< the last is the outermost: its return address is undefined
  std::string end;           ///< why there is no further frame
  /// No function has the last frame's code, but one ends shortly before.
  bool ends_in_padding = false;
  /// The same, but the code is that at which the kernel enters the file, and so the outermost after all.
  bool ends_at_entry = false;
};

}  // namespace hawk

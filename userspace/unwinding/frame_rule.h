#pragma once

#include "bpf/unwind/layout.h"
#include "userspace/unwinding/frame_state.h"
#include "userspace/unwinding/unsupported.h"

namespace hawk {

/// A rule, and what had to be left out of it.
struct FrameRule {
  hawk_rule rule = {};
  /// With kFramePointer the rule holds, but does not know the caller's frame pointer; otherwise it is
  /// HAWK_RULE_UNSUPPORTED.
  Unsupported unsupported = Unsupported::kNothing;
};

/// What the kernel is to do in this state. `is_signal_frame`: the CIE says that the kernel made the frame.
FrameRule frame_rule(const FrameState& state, bool is_signal_frame);

}  // namespace hawk

#pragma once

#include <string>

#include "userspace/recording/byte_stream.h"
#include "userspace/tables/snapshot.h"

/// The points inside a target's allocating functions (ProbedFunction::points): what they are, which hardly ever
/// changes, and how many calls were seen at each, which nearly always does.
namespace hawk::recording {

/// All of them but the counts; empty: there are none.
std::string points_of(const TargetInfo& target);
void take_points(ByteReader& bytes, TargetInfo& target);

/// The counts that are not those of `before`, which has the same points; empty: all are.
std::string point_calls_of(const TargetInfo& target, const TargetInfo& before);
/// The same, of one whose points have just been written.
std::string point_calls_of(const TargetInfo& target);
void take_point_calls(ByteReader& bytes, TargetInfo& target);

}  // namespace hawk::recording

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "userspace/recording/byte_stream.h"
#include "userspace/tables/snapshot.h"

namespace hawk::recording {

/// What has been mapped and unmapped since `before`, as the content of a record; empty: nothing, or mappings are not
/// followed.
std::string mapping_changes(const Snapshot& now, const Snapshot& before);

/// The reverse, into `snapshot`. `ends`: by the numbers that the recording has for them. A failure of `bytes` if it
/// makes no sense.
void take_mapping_changes(ByteReader& bytes, Snapshot& snapshot, const std::vector<hawk_end>& ends);

}  // namespace hawk::recording

#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Which number readers show first: live bytes or allocated ones.
enum class ProfileKind { kHeap, kAllocs };

enum class ProfileForm {
  kPprof,  ///< profile.proto, compressed by gzip
  kText,   ///< of gperftools, symbolized: Go's ?debug=1 is of that kind
};

/// All stacks of the snapshot as a profile, with names.
std::string profile_of(const Snapshot& snapshot, Symbolizer& symbolizer, ProfileKind kind, ProfileForm form);

}  // namespace hawk

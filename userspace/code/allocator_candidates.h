#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/allocator_file.h"
#include "userspace/code/branch_targets.h"
#include "userspace/code/function_walk.h"

namespace hawk {

/// All that the symbol tables say of one address.
struct Candidate {
  FunctionExtent extent;
  std::vector<std::string> names;
  hawk_call_kind kind = HAWK_CALL_NONE;
  ArgumentRegisters arguments = kPassedInOrder;
  bool only_operators = true;  ///< no C name among the names
  bool conflict = false;       ///< C names of different kinds
  bool may_throw = false;
  bool needs_company = true;
  bool deletes_own = false;  ///< operator delete where operator new takes no blocks from an allocator's functions

  bool is_unfollowed() const { return kind >= HAWK_CALL_UNFOLLOWED; }
};

/// By where they begin.
using Candidates = std::map<std::uint64_t, Candidate>;

/// The functions of the file that the catalogue has, by their addresses; and, in `file`, those of which that cannot be
/// known.
Candidates find_candidates(BranchTargets& resolver, AllocatorFile& file);

/// Adds the functions with an allocator's prefix that no list of the catalogue has. Returns the addresses of those that
/// do not change blocks.
std::set<std::uint64_t> add_families(const ElfImage& image, Candidates& candidates);

}  // namespace hawk

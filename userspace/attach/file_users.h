#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "userspace/attach/link_choice.h"

namespace hawk {

/// A mapped file: its device and inode.
using MappedFile = std::pair<std::uint64_t, std::uint64_t>;

/// Counts the processes that map the file whose code most of the targets map; of several such files, the one that most
/// other processes map. Processes that cannot be read are not counted. `files`: those that will be probed; empty: any,
/// because it is not known yet. Counting stops when more others would not change choose_links() with these costs.
FileUsers count_file_users(std::span<const int> targets, const LinkCosts& costs,
                           const std::set<MappedFile>& files = {});

}  // namespace hawk

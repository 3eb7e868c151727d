#pragma once

#include <span>

#include "userspace/attach/link_choice.h"

namespace hawk {

/// Counts the processes that map the file whose code most of the targets map; of several such files, the one that most
/// other processes map. (Searching for allocators would take longer.) Processes that cannot be read are not counted.
/// `decides`: counting stops when more others would not change choose_links().
FileUsers count_file_users(std::span<const int> targets, bool decides);

}  // namespace hawk

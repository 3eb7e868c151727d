#pragma once

#include <span>

#include "userspace/attach/link_choice.h"

namespace hawk {

/// Counts who maps the file with code that most of the targets map, of several such files the one that most others
/// map: to look for allocators takes longer. A process that cannot be read is none. `decides`: not more others are
/// counted than choose_links() can do with.
FileUsers count_file_users(std::span<const int> targets, bool decides);

}  // namespace hawk

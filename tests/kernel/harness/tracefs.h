#pragma once

#include <sys/types.h>

#include <string>

namespace hawk {

/// What a shell prints, the only process that has tracefs at /mnt.
std::string in_tracefs(const std::string& commands);

/// The uprobe events that the kernel has by name.
std::string named_events();

/// Expects that none of them is of the hawktrace that had this number.
void expect_no_named_events(pid_t hawktrace);

}  // namespace hawk

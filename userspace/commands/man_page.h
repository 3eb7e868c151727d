#pragma once

#include <string>

#include "userspace/commands/command.h"

namespace hawk {

/// The page of the command, hawktrace(1) for the one without a name, as roff for man(7), from what --help says.
std::string man_page(const Command& described);

}  // namespace hawk

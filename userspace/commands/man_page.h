#pragma once

#include <string>

namespace hawk {

/// hawktrace(1) as roff for man(7), from the same table as --help.
std::string man_page();

}  // namespace hawk

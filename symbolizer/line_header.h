#pragma once

#include <elfutils/libdw.h>

namespace hawk {

/// Whether the header of the unit's line program (DWARF 5, section 6.2.4) lies inside its program, and that inside
/// .debug_line. libdw 0.192 trusts header_length when it reads the tables of directories and files, and runs off the
/// section when it is too large: ask this before dwarf_getsrc_die and dwarf_getsrcfiles. False also for a unit without
/// lines.
bool line_header_is_sound(Dwarf_Die* unit);

}  // namespace hawk

#pragma once

#include <elfutils/libdw.h>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// Whether the line program of `unit`, a unit's own entry, begins with a header that lies in `lines`, the content of
/// .debug_line. libdw (0.192) believes the header's length and reads on behind the section.
bool line_header_is_sound(Dwarf_Die* unit, Bytes lines);

}  // namespace hawk

#include "userspace/tracer/live_table.h"

namespace hawk {

std::string_view live_table_name(LiveTable table) { return table == LiveTable::kArena ? "arena" : "hash"; }

}  // namespace hawk

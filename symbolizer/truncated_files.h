#pragma once

namespace hawk {

/// From now on, reading a mapped file beyond the end to which it has been truncated yields zeros; otherwise SIGBUS
/// would end the program. Applies to the whole process.
void survive_truncated_files();

}  // namespace hawk

#pragma once

namespace hawk {

/// From now on, what is read of a mapped file behind the end to which it was truncated meanwhile is zeros; otherwise
/// SIGBUS would end the program. For the whole process.
void survive_truncated_files();

}  // namespace hawk

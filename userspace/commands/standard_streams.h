#pragma once

namespace hawk {

/// To be called before anything is opened: opens descriptors 0, 1 and 2 if they are closed, so that no other file
/// gets such a number and is written to as stdout or stderr. A descriptor that was closed can still be neither read
/// nor written, and a command does not inherit it. From then on a closed pipe is an error of write(2), not a
/// signal.
void secure_standard_streams();

}  // namespace hawk

#pragma once

namespace hawk {

/// To be called before anything is opened: makes descriptors 0, 1 and 2 taken, so that no file of ours gets such a
/// number and is written to as stdout or stderr. One that was closed stays as good as closed: it can be neither read
/// nor written, and a command that we start does not inherit it. From then on a reader that went away is an error of
/// write(2), not a signal.
void secure_standard_streams();

}  // namespace hawk

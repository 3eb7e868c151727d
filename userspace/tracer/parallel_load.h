#pragma once

#include <functional>

namespace hawk {

/// What became of an object's programs.
enum class Loaded {
  kYes,
  kNo,         ///< errno says why
  kNotAtOnce,  ///< the kernel refuses one that it was given beside others: loading one after the other, libbpf says why
};

/// Has libbpf tell of the uprobe programs of objects that are opened from now on.
void prepare_parallel_loading();

/// `load` has libbpf load an object, and returns whether it did. Here a thread of its own loads each uprobe program:
/// the kernel checks the programs of a privileged process side by side, and to check them is most of the time that
/// attaching takes.
Loaded load_in_parallel(const std::function<bool()>& load);

}  // namespace hawk

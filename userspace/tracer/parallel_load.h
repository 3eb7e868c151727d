#pragma once

#include <bpf/libbpf.h>

#include <functional>
#include <set>

#include "userspace/tracer/maps_ahead.h"
#include "userspace/tracer/relocation_types.h"
#include "userspace/tracer/waiting_program.h"

namespace hawk {

/// What became of an object's programs.
enum class Loaded {
  kYes,
  kNo,         ///< errno says why
  kNotAtOnce,  ///< the kernel refuses one that it was given beside others: loading one after the other, libbpf says why
};

/// An object that is to be loaded.
struct ObjectLoad {
  bpf_object* object = nullptr;
  std::function<bool()> load;               ///< has libbpf do it, and returns whether it did
  std::function<bool()> use_maps;           ///< called once they are there, while programs are loaded
  const ReducedTypes* types = nullptr;      ///< all that it needs of the kernel's; nullptr: it is to find them itself
  MapsAhead* maps = nullptr;                ///< some of its maps
  std::set<const bpf_program*> later = {};  ///< programs that are not needed yet
};

/// Has several threads, as many as there are CPUs, load the programs: the kernel checks those of a privileged process
/// side by side, and to check them is most of the time that attaching takes. `later` takes those that are not needed
/// yet.
Loaded load_in_parallel(const ObjectLoad& object, LaterPrograms& later);

/// One after the other, and all of them.
Loaded load_in_order(const ObjectLoad& object);

}  // namespace hawk

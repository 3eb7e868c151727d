#pragma once

#include "symbolizer/module_symbols.h"
#include "userspace/attach/probing.h"
#include "userspace/base/ids.h"

namespace hawk {

/// Finds the files of a snapshot's modules for the symbolizer, in the same way for a live process and for a
/// recording.
class ModuleLocator {
 public:
  virtual ~ModuleLocator() = default;
  /// Without a descriptor if there is no such file any more.
  virtual ModuleFile locate(ModuleId id) = 0;
};

/// The files of a traced process: by open descriptors, or else below its root.
class LiveModuleLocator : public ModuleLocator {
 public:
  /// `probing` must outlive this. `proc_pid`: see ModuleMap.
  LiveModuleLocator(Probing& probing, int proc_pid) : probing_(probing), proc_pid_(proc_pid) {}
  ModuleFile locate(ModuleId id) override;

 private:
  Probing& probing_;
  int proc_pid_;
};

}  // namespace hawk

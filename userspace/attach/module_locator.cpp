#include "userspace/attach/module_locator.h"

#include <fmt/core.h>

namespace hawk {

ModuleFile LiveModuleLocator::locate(ModuleId id) {
  const MappedModule& module = probing_.modules().module(id);
  ModuleFile file;
  file.path = module.path;
  file.fd = probing_.open_for_symbols(id);
  file.root = fmt::format("/proc/{}/root", proc_pid_);
  file.vdso = module.is_vdso;
  return file;
}

}  // namespace hawk

#include "userspace/attach/module_locator.h"

#include <fmt/core.h>

#include <utility>

#include "userspace/process/vdso.h"

namespace hawk {
namespace {

UniqueFd vdso() {
  Result<UniqueFd> copy = copy_vdso();
  return copy ? std::move(*copy) : UniqueFd();
}

}  // namespace

ModuleFile LiveModuleLocator::locate(ModuleId id) {
  const MappedModule& module = probing_.modules().module(id);
  ModuleFile file;
  file.path = module.path;
  file.fd = module.is_vdso ? vdso() : probing_.open_for_symbols(id);
  file.root = fmt::format("/proc/{}/root", proc_pid_);
  file.vdso = module.is_vdso;
  return file;
}

}  // namespace hawk

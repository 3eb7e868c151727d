#include "userspace/attach/module_locator.h"

#include <fmt/core.h>

#include <optional>
#include <string>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/process/vdso.h"

namespace hawk {
namespace {

UniqueFd vdso() {
  Result<UniqueFd> copy = copy_vdso();
  return copy ? std::move(*copy) : UniqueFd();
}

/// The key is the build id and everything else that the names depend on: where debug files are searched, which is below
/// the root and relative to the path; and which user could have given the file its build id. A process that has ended
/// has no root any more, and no debug file is found for any such.
std::string name_by_content(const MappedModule& module, const std::string& root) {
  if (module.build_id.empty()) return {};
  const std::optional<FileState> directory = state_of(root);
  const std::string where = directory ? fmt::format("{}:{}", directory->file.device, directory->file.inode) : "no root";
  return fmt::format("{} {} {} {} {}", module.build_id, module.file.size_bytes, module.owner, where, module.path);
}

}  // namespace

ModuleFile LiveModuleLocator::locate(ModuleId id) {
  const MappedModule& module = probing_.modules().module(id);
  ModuleFile file;
  file.path = module.path;
  file.fd = module.is_vdso ? vdso() : probing_.open_for_symbols(id);
  file.root = fmt::format("/proc/{}/root", proc_pid_);
  file.vdso = module.is_vdso;
  if (file.fd) file.known_as = name_by_content(module, file.root);
  return file;
}

}  // namespace hawk

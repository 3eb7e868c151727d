#include "userspace/attach/recorded_module_locator.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/utsname.h>

#include <string_view>
#include <utility>

#include "userspace/attach/module_map.h"
#include "userspace/base/regular_file.h"
#include "userspace/elf/elf_layout.h"

namespace hawk {
namespace {

constexpr const char* kSystemDebugDirectory = "/usr/lib/debug";

/// A descriptor of its own for a file with that build id; none otherwise.
UniqueFd open_with_build_id(const std::string& root, const std::string& path, const std::string& build_id) {
  UniqueFd file = open_regular_file_below(root, path);
  if (!file) return {};
  const Result<ElfLayout> image = ElfLayout::make(std::move(file), path);
  if (!image || image->build_id() != build_id) return {};
  return open_regular_file_below(root, path);
}

/// `file`, if it has that build id.
UniqueFd with_build_id(UniqueFd file, const std::string& build_id) {
  if (!file) return {};
  const Result<ElfLayout> image = ElfLayout::make(UniqueFd(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0)), build_id);
  return image && image->build_id() == build_id ? std::move(file) : UniqueFd();
}

/// "DIR/.build-id/61/96744a...": where debuginfo packages have files.
std::string build_id_path(const std::string& directory, const std::string& build_id) {
  return fmt::format("{}/.build-id/{}/{}", directory, build_id.substr(0, 2), build_id.substr(2));
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_our_kernel(const std::string& release) {
  utsname names;
  return ::uname(&names) == 0 && release == names.release;
}

}  // namespace

std::vector<RecordedModuleLocator::Candidate> RecordedModuleLocator::candidates(const Module& module) const {
  std::vector<Candidate> found;
  for (const std::string& directory : search_.debug_directories) {
    // What was stripped is more than what was left.
    for (const std::string& path :
         {build_id_path(directory, module.build_id) + ".debug", directory + module.path + ".debug",
          directory + "/" + base_name(module.path) + ".debug", build_id_path(directory, module.build_id),
          directory + module.path, directory + "/" + base_name(module.path)}) {
      found.push_back({"", path});
    }
  }
  found.push_back({search_.sysroot, module.path});
  found.push_back({search_.sysroot, build_id_path(kSystemDebugDirectory, module.build_id) + ".debug"});
  if (!search_.sysroot.empty()) {
    found.push_back({"", build_id_path(kSystemDebugDirectory, module.build_id) + ".debug"});
  }
  return found;
}

ModuleFile RecordedModuleLocator::locate(ModuleId id) {
  const Module& module = modules_[static_cast<std::size_t>(id)];
  ModuleFile file;
  file.path = module.path;
  file.root = search_.sysroot;
  file.vdso = module.path == kVdso && is_our_kernel(kernel_);
  if (module.path == kVdso || module.build_id.size() < 4) return file;
  for (const Candidate& candidate : candidates(module)) {
    file.fd = open_with_build_id(candidate.root, candidate.path, module.build_id);
    if (!file.fd) continue;
    file.path = candidate.path;
    file.root = candidate.root;
    return file;
  }
  if (search_.finder) file.fd = with_build_id(search_.finder(module.build_id), module.build_id);
  return file;
}

std::string RecordedModuleLocator::why_not_found(ModuleId id) const {
  const Module& module = modules_[static_cast<std::size_t>(id)];
  if (module.path == kVdso) return "it belongs to another kernel";
  if (module.build_id.size() < 4) {
    return "its file cannot be identified without a build id: record --symbols stores names";
  }
  return "no file with its build id was found; --sysroot, --debug-dir and --debuginfod set where to search";
}

}  // namespace hawk

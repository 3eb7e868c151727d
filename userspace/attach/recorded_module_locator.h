#pragma once

#include <string>
#include <vector>

#include "userspace/attach/module_locator.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Where files of a recording's modules are looked for.
struct ModuleSearch {
  std::string sysroot;                         ///< below which they have their paths; "": our own file system
  std::vector<std::string> debug_directories;  ///< with .build-id below, or with the files themselves
  DebugFileFinder finder = {};                 ///< asked at last; may be empty
};

/// Finds the files of a recording's modules, perhaps on another machine. Only a file with the recorded
/// build id is accepted: in the debug directories, below the sysroot, in usr/lib/debug there, and from the
/// finder.
class RecordedModuleLocator : public ModuleLocator {
 public:
  /// `modules` must outlive this. `kernel`: the release that the target ran on, whose vdso is ours if it is ours.
  RecordedModuleLocator(const SharedTable<Module>& modules, std::string kernel, ModuleSearch search)
      : modules_(modules), kernel_(std::move(kernel)), search_(std::move(search)) {}

  ModuleFile locate(ModuleId id) override;
  /// Why locate() found none: what a report says of the module.
  std::string why_not_found(ModuleId id) const;

 private:
  struct Candidate {
    std::string root;
    std::string path;
  };
  std::vector<Candidate> candidates(const Module& module) const;

  const SharedTable<Module>& modules_;
  std::string kernel_;
  ModuleSearch search_;
};

}  // namespace hawk

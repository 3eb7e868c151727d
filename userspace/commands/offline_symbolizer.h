#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/recording/recorded_names.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Names of a recording: those that it holds, or those in files that are found here. These are read as those of a
/// process that lives are.
class OfflineSymbolizer : public Symbolizer {
 public:
  /// Both must outlive this.
  OfflineSymbolizer(const Snapshot& snapshot, RecordedNames& names, ModuleSearch search)
      : names_(names), locator_(snapshot.modules, snapshot.trace.kernel, search) {
    symbolizer_.find_debug_files_with(std::move(search.finder));
  }

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override {
    return names_.frames_in_no_file(address);
  }
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override;
  SymbolSource source(ModuleId module) override;
  std::string gap(ModuleId module) override;

 private:
  /// Whether the module's file has been found, now or before.
  bool find(ModuleId module);

  RecordedNames& names_;
  RecordedModuleLocator locator_;
  ConfinedSymbolizer symbolizer_;
  std::map<ModuleId, bool> found_;
};

}  // namespace hawk

#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "userspace/attach/known_files.h"
#include "userspace/attach/module_map.h"
#include "userspace/attach/read_ahead.h"
#include "userspace/base/ids.h"
#include "userspace/study/file_reader.h"

namespace hawk {

/// Has the files of modules read: what was read ahead is taken, the rest is read now. The vdso counts as a file, which
/// has no code of interest.
class ModuleReader {
 public:
  /// `files` must live longer.
  /// `known`: the code of files that were read for any process.
  ModuleReader(FileReader& files, KnownFiles<FileCode>& known) : files_(files), known_(known) {}

  /// Takes what `ahead` has read, by our reader among others, until end_ahead().
  void use(std::unique_ptr<ReadAhead> ahead) { ahead_ = std::move(ahead); }
  void end_ahead() { ahead_.reset(); }

  /// Nothing is found out about a module without file.
  FileStudy read(const MappedModule& module, FileWants wants);
  /// The same for each, in their order, side by side with what `use` does.
  using Use = std::function<void(ModuleId id, FileStudy study)>;
  void read(const ModuleMap& modules, const std::vector<ModuleId>& ids, FileWants wants, const Use& use);

 private:
  FileStudy read_file(const MappedModule& module, FileWants wants);
  bool takes_known(const MappedModule& module, FileWants& wants, FileStudy& study) const;
  FileReader& files_;
  KnownFiles<FileCode>& known_;
  std::unique_ptr<ReadAhead> ahead_;  ///< uses `files_`
};

}  // namespace hawk

#include "userspace/attach/module_reader.h"

#include <optional>

#include "userspace/process/vdso.h"

namespace hawk {

FileStudy ModuleReader::read(const MappedModule& module, FileWants wants) {
  if (ahead_ && module.image) {
    if (std::optional<FileStudy> study = ahead_->take(module)) return *std::move(study);
  }
  if (ahead_) ahead_->wait();
  if (module.image) return files_->read({.file = &*module.image, .wants = wants});
  if (!module.is_vdso || !wants.table) return {};
  const Result<ElfLayout> vdso = read_vdso();
  return vdso ? files_->read({.file = &*vdso, .wants = {.code = false, .table = true}}) : FileStudy{};
}

void ModuleReader::read(const ModuleMap& modules, const std::vector<ModuleId>& ids, FileWants wants, const Use& use) {
  std::vector<FileQuestion> questions;
  std::vector<ModuleId> asked;
  for (const ModuleId id : ids) {
    const MappedModule& module = modules.module(id);
    if (!module.image || ahead_) {
      use(id, read(module, wants));
      continue;
    }
    questions.push_back({.file = &*module.image, .wants = wants});
    asked.push_back(id);
  }
  files_->read(questions, [&](std::size_t number, FileStudy study) { use(asked[number], std::move(study)); });
}

}  // namespace hawk

#include "userspace/attach/module_reader.h"

#include <optional>
#include <utility>

#include "userspace/process/vdso.h"

namespace hawk {

/// Removes from `wants` what is known. Returns whether nothing is left.
bool ModuleReader::takes_known(const MappedModule& module, FileWants& wants, FileStudy& study) const {
  const FileCode* const code = wants.code ? known_.find(module) : nullptr;
  if (code != nullptr) {
    study.code = *code;
    wants.code = false;
  }
  return !wants.code && !wants.table;
}

FileStudy ModuleReader::read_file(const MappedModule& module, FileWants wants) {
  FileStudy known;
  if (takes_known(module, wants, known)) return known;
  FileStudy study = files_.read({.file = &*module.image, .wants = wants});
  if (known.code) study.code = std::move(known.code);
  if (study.code) known_.add(module, *study.code);
  return study;
}

FileStudy ModuleReader::read(const MappedModule& module, FileWants wants) {
  if (ahead_ && module.image) {
    if (std::optional<FileStudy> study = ahead_->take(module)) {
      if (study->code) known_.add(module, *study->code);
      return *std::move(study);
    }
  }
  if (ahead_) ahead_->wait();
  if (module.image) return read_file(module, wants);
  if (!module.is_vdso || !wants.table) return {};
  const Result<ElfLayout> vdso = read_vdso();
  return vdso ? files_.read({.file = &*vdso, .wants = {.code = false, .table = true}}) : FileStudy{};
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
    FileStudy known;
    FileWants unknown = wants;
    if (takes_known(module, unknown, known)) {
      use(id, std::move(known));
      continue;
    }
    questions.push_back({.file = &*module.image, .wants = wants});
    asked.push_back(id);
  }
  files_.read(questions, [&](std::size_t number, FileStudy study) {
    if (study.code) known_.add(modules.module(asked[number]), *study.code);
    use(asked[number], std::move(study));
  });
}

}  // namespace hawk

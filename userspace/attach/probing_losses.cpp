// The warnings and losses of probing.
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "userspace/attach/probing.h"
#include "userspace/base/log.h"

namespace hawk {

/// Every point is a loss of its own; one line for each function is enough.
void Probing::count_missing(const std::vector<Breakpoints::Missing>& points) {
  std::set<std::pair<ModuleId, std::string>> named;
  for (const Breakpoints::Missing& missing : points) {
    tracer_.count_loss(HAWK_LOSS_MISSING_BREAKPOINT);
    if (!named.emplace(missing.module, missing.function).second) continue;
    log_warning(fmt::format("{} in {} is not traced: the process's memory has no breakpoint there", missing.function,
                            modules_.module(missing.module).path));
  }
}

/// A function that does not do any more what its plan says may still begin and return as all do.
void Probing::leave_out_changed(ModuleId id, AllocatorFile& file) {
  // Probes that others have in the file see calls by its plans, and would see them twice.
  if (!tracer_.shares_probes(modules_.module(id).probed_fd())) {
    const std::vector<std::string> changed = breakpoints_->take_changed_plans(id, file);
    for (const std::string& name : changed) {
      log_verbose(fmt::format("{} in {} is not followed by points: the process has changed its code", name,
                              modules_.module(id).path));
    }
    if (!changed.empty()) tracer_.settle(file);  // others may rely on them
  }
  for (const std::string& name : breakpoints_->take_out_changed(id, file)) {
    log_warning(
        fmt::format("{} in {} is not probed: the process has changed its code", name, modules_.module(id).path));
    tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
  }
}

/// A file that the kernel refuses, for example because it is being modified, must not end the trace of all others.
void Probing::note_refused(const MappedModule& module, const AllocatorFile& file, const Error& error) {
  log_warning(fmt::format("allocator functions in {} are not probed: {}", module.path, error.what));
  tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED, file.functions.size());
  if (!refusal_) refusal_ = Error{error.exit_code, fmt::format("{}: {}", module.path, error.what), error.hint};
}

/// What the file holds is not known then: it may define an allocator, which the process has called. What is gone by the
/// time that the trace begins was never called in it, and where threads are held files are read before they can be
/// gone. The files of a child that has ended, or runs another program by now, may be in no place that can be reached
/// any more; nearly all are its maker's, or of programs known before.
void Probing::note_unreadable(const MappedModule& module) {
  const int error = module.open_error;
  const bool is_no_file = error == EINVAL;
  const bool is_passed_over = module.is_gone() && (!tracing_ || is_adopted_ || tracer_.holds_threads());
  if (error == 0 || is_passed_over || is_no_file)
    return log_verbose(fmt::format("{} cannot be read as an ELF file", module.path));
  if (module.is_gone()) {
    log_warning(fmt::format("allocator functions in {} are not probed: it was unmapped and deleted before it was read",
                            module.path));
    return tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
  }
  log_warning(fmt::format("allocator functions in {} are not probed: open it: {}", module.path, std::strerror(error)));
  tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
}

/// The kernel continues to place the breakpoints at the old offsets, whatever code is there now.
void Probing::note_rewritten(const MappedModule& module) {
  const auto probed = std::find(allocator_files_.begin(), allocator_files_.end(), *module.earlier);
  if (probed == allocator_files_.end()) return;
  log_warning(fmt::format("{} was written to while its functions were probed", module.path));
  tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
}

/// The reader has failed on it, or there is none. It may define an allocator, perhaps the only one.
void Probing::note_not_studied(const MappedModule& module, const std::string& gap) {
  log_warning(fmt::format("allocator functions in {} are not probed: {}", module.path, gap));
  tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
  if (!refusal_) refusal_ = Error{ExitCode::kPrivilege, fmt::format("read {}: {}", module.path, gap), {}, {}};
}

bool Probing::ended_while_loading() const {
  const AddressRange unrun = tracer_.unrun_code();
  if (unrun.end == HAWK_END_OF_MEMORY) return true;
  if (!tracer_.process_has_ended_elsewhere()) return false;
  std::set<ModuleId> files;  // that may hide an allocator
  for (const MappedCode& code : modules_.code()) {
    if (unrun.start <= code.start && code.start < unrun.end) continue;
    const bool is_probed = std::find(probed_files_.begin(), probed_files_.end(), code.module) != probed_files_.end();
    if (!is_probed && !modules_.module(code.module).is_vdso) files.insert(code.module);
  }
  const auto is_linker = [&](ModuleId id) {
    return std::find(allocator_files_.begin(), allocator_files_.end(), id) != allocator_files_.end();
  };
  return files.size() < 2 || (files.size() == 2 && std::any_of(files.begin(), files.end(), is_linker));
}

std::set<std::pair<std::uint64_t, std::uint64_t>> Probing::probed_files() const {
  std::set<std::pair<std::uint64_t, std::uint64_t>> files;
  for (const ModuleId id : probed_files_) files.emplace(modules_.module(id).device, modules_.module(id).inode);
  return files;
}

}  // namespace hawk

#include "userspace/attach/probing.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/open_file_limit.h"

namespace hawk {
namespace {

std::uint64_t code_bytes(const MappedModule& module) {
  std::uint64_t bytes = 0;
  if (!module.image) return bytes;
  for (const LoadSegment& segment : module.image->code()) bytes += segment.file_bytes;
  return bytes;
}

/// What a module needs at most: see kOpenFilesOfAProcess.
constexpr std::size_t kFilesPerModule = 4;

std::size_t max_open_modules() {
  const std::size_t limit = raise_open_file_limit(kOpenFilesOfAProcess);
  return limit > kOtherOpenFiles ? (limit - kOtherOpenFiles) / kFilesPerModule : 0;
}

}  // namespace

Probing::Probing(int proc_pid, Tracer& tracer, SharedTracing& shared)
    : max_open_modules_(max_open_modules()),
      reader_(shared.files(), shared.known_code()),
      modules_(proc_pid, max_open_modules_),
      breakpoints_(std::in_place, proc_pid, modules_, tracer.last_look()),
      tracer_(tracer),
      unwinding_(std::in_place, tracer, shared.unwinding(), shared.wants().table) {}

Probing::Probing(const Probing& maker, int proc_pid, Tracer& tracer, SharedTracing& shared)
    : max_open_modules_(maker.max_open_modules_),
      reader_(shared.files(), shared.known_code()),
      modules_(maker.modules_, proc_pid),
      breakpoints_(std::in_place, *maker.breakpoints_, proc_pid, modules_, tracer.last_look()),
      tracer_(tracer),
      unwinding_(std::in_place, *maker.unwinding_, tracer),
      is_adopted_(true),
      tracing_(true),
      looked_at_(std::chrono::steady_clock::now()),
      open_after_closing_(modules_.open_files()),
      allocators_(maker.allocators_),
      traps_(maker.traps_),
      planned_(maker.planned_),
      go_programs_(maker.go_programs_),
      knows_allocator_files_(maker.knows_allocator_files_),
      program_has_allocator_(true),  // or the trace of the maker says so
      probed_files_(maker.probed_files_),
      allocator_files_(maker.allocator_files_),
      operator_files_(maker.operator_files_) {
  unwinding_->publish(modules_);
}

void Probing::let_go_of_tracer() {
  count_calls_at_points();
  unwind_info_ = unwinding_->info();
  unwinding_.reset();
  breakpoints_.reset();
  // Names are asked for in those only in which addresses lie.
  for (std::size_t i = 0; i < modules_.module_count(); ++i) {
    if (i >= is_used_.size() || !is_used_[i]) modules_.close_file(ModuleId(i));
  }
  modules_.forget_look_ups();
}

/// Published before they are looked at: what is reported here would be reported again by the programs, as of code that
/// nobody has told them of, if the process ended between the two.
void Probing::check_breakpoints(bool is_last) {
  looked_at_ = std::chrono::steady_clock::now();
  breakpoints_->publish();
  count_missing(breakpoints_->find_missing(is_last));
}

void Probing::publish_breakpoints() { breakpoints_->publish(); }

void Probing::take_last_look() { count_missing(breakpoints_->take_last_look()); }

void Probing::check_breakpoints_in_time() {
  constexpr std::chrono::seconds kOften{1};
  take_last_look();
  if (breakpoints_->is_look_due() || std::chrono::steady_clock::now() - looked_at_ >= kOften)
    return check_breakpoints(false);
  breakpoints_->publish();
}

Result<void> Probing::probe_allocator(ModuleId id, bool is_expected, AllocatorFile file) {
  const MappedModule& module = modules_.module(id);
  tracer_.settle(file);
  if (!is_expected && !file.functions.empty()) leave_out_changed(id, file);
  for (const UnprobedFunction& unprobed : file.unprobed) {
    log_warning(fmt::format("{} in {} is not probed: {}", unprobed.name, module.path, unprobed.reason));
    tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
  }
  if (file.functions.empty()) return {};
  if (std::any_of(file.functions.begin(), file.functions.end(), has_return_probe))
    HAWK_TRY_VOID(tracer_.require_no_interceptor());
  const Result<bool> attached = tracer_.attach_allocator(module.probed_fd(), file);
  if (!attached) {
    note_refused(module, file, attached.error());
    return {};
  }
  breakpoints_->watch(id, file);
  if (tracing_ && !is_expected && *attached) tracer_.note_late_allocator();
  allocators_.push_back(describe(module, file, tracer_.follows_plans()));
  traps_.emplace_back();
  planned_.emplace_back();
  for (const AllocatorFunction& function : file.functions) {
    traps_.back().push_back(traps_of(function));
    planned_.back().push_back({.kind = function.kind, .points = probed_points_of(function.yields)});
  }
  for (const AllocatorFunction& function : file.unfollowed) {
    log_verbose(
        fmt::format("count calls of {} in {} at {:#x}", function.names.front(), module.path, function.probe_offset));
  }
  for (const ProbedFunction& function : allocators_.back().functions) {
    log_verbose(fmt::format("probe {} in {} at {:#x}, {}{}", function.name, module.path, function.probe_offset,
                            function.instruction, function.single_stepped ? " (single-stepped)" : ""));
  }
  return {};
}

void Probing::add_operator_frames(ModuleId id, bool is_expected, const OperatorFrames& frames) {
  const MappedModule& module = modules_.module(id);
  const Result<std::optional<std::uint32_t>> number =
      tracer_.add_operator_frames(module.probed_fd(), frames, is_expected);
  if (!number || !*number) {
    log_warning(fmt::format("the callers of operator new in {} are not shown: {}", module.path,
                            number ? "too many files define it" : number.error().what));
    return;
  }
  operator_files_[id] = **number;
}

Result<void> Probing::probe_module(ModuleId id, bool is_expected, const FileStudy& study) {
  const MappedModule& module = modules_.module(id);
  if (module.earlier) note_rewritten(module);
  if (!module.image && !module.is_vdso) note_unreadable(module);
  if (module.image && !study.code) note_not_studied(module, study.gap);
  if (!module.image || !study.code) return {};
  const FileCode& code = *study.code;
  if (code.is_go) go_programs_.insert(module.path);
  const std::size_t known = allocators_.size();
  HAWK_TRY_VOID(probe_allocator(id, is_expected, code.allocator));
  const bool is_allocator = allocators_.size() > known;
  if (is_allocator) probed_files_.push_back(id);
  if (is_allocator || code.is_dynamic_linker) allocator_files_.push_back(id);
  if (code.operator_frames) add_operator_frames(id, is_expected, *code.operator_frames);
  return {};
}

void Probing::take_table(ModuleId id, FileStudy study) {
  unwinding_->take_table(modules_, id, std::move(study.table), study.gap);
  modules_.settle(id);
}

Result<void> Probing::study_module(ModuleId id, bool is_expected) {
  const bool is_file = modules_.module(id).image != nullptr, wants_table = unwinding_->wants_table(modules_, id);
  FileStudy study =
      reader_.read(modules_.module(id), {.code = is_file, .plans = tracer_.plans(), .table = wants_table});
  Result<void> probed = probe_module(id, is_expected, study);
  if (wants_table) take_table(id, std::move(study));
  modules_.settle(id);
  return probed;
}

Result<void> Probing::expect_files(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    const std::size_t known = modules_.module_count();
    const std::optional<ModuleId> id = modules_.expect(path);
    if (id && modules_.module_count() > known) HAWK_TRY_VOID(study_module(*id, true));
  }
  if (!found_allocator() && refusal_) return tl::unexpected<Error>(*refusal_);
  program_has_allocator_ = expects_allocator_ = found_allocator();
  reader_.end_ahead();
  unwinding_->publish(modules_);
  return {};
}

void Probing::update_base(ModuleId id) {
  const auto number = operator_files_.find(id);
  if (number == operator_files_.end()) return;
  const std::optional<std::uint64_t> base = modules_.load_base(id);
  if (base) tracer_.set_module_base(number->second, *base);
}

void Probing::update_allocator_ranges() {
  // Of a process that is still being loaded the dynamic linker alone is known.
  if (!knows_allocator_files_ || probed_files_.empty()) return;
  std::vector<AddressRange> all;
  for (const ModuleId id : allocator_files_) {
    const std::vector<AddressRange> ranges = modules_.ranges_of(id);
    if (ranges.empty()) return;  // a command that is still being loaded
    all.insert(all.end(), ranges.begin(), ranges.end());
  }
  tracer_.set_allocator_ranges(all);
}

Result<void> Probing::take_mapping(const Mapping& mapping) {
  const std::optional<ModuleId> added = modules_.add(mapping);
  return added ? study_module(*added, false) : Result<void>{};
}

/// A process that has moved a file's code into anonymous memory, as for huge pages, still has the file's other parts on
/// both sides of it. Such code is known by its file; that it has no breakpoints is found out like everywhere.
Result<void> Probing::take_replaced_code(const std::vector<Mapping>& mappings) {
  for (std::size_t i = 1; i + 1 < mappings.size(); ++i) {
    if (!is_anonymous_code(mappings[i])) continue;
    for (Mapping file : {mappings[i - 1], mappings[i + 1]}) {
      if (file.inode == 0) continue;
      file.executable = true;  // or it would not be looked at
      HAWK_TRY_VOID(take_mapping(file));
      const std::optional<ModuleAddress> found = modules_.resolve(file.start);
      if (!found || !modules_.module(found->module).image) continue;
      for (const Mapping& code : replaced_code(mappings, *modules_.module(found->module).image, file)) {
        HAWK_TRY_VOID(take_mapping(code));
      }
    }
  }
  return {};
}

Result<void> Probing::take_mappings(const std::vector<Mapping>& mappings) {
  modules_.forget_mappings();
  for (const Mapping& mapping : mappings) HAWK_TRY_VOID(take_mapping(mapping));
  HAWK_TRY_VOID(take_replaced_code(mappings));
  breakpoints_->note_all_mappings();
  for (const auto& [id, number] : operator_files_) update_base(id);
  update_allocator_ranges();
  program_has_allocator_ = false;
  look_for_allocator(mappings);
  reader_.end_ahead();
  unwinding_->publish(modules_);
  return {};
}

void Probing::program_replaced(bool is_known) {
  knows_allocator_files_ = false;
  program_has_allocator_ = program_has_allocator_ && is_known;
}

void Probing::program_began(std::span<const Mapping> its_mappings, bool is_next) {
  program_has_allocator_ = std::exchange(expects_allocator_, false) && is_next;
  look_for_allocator(its_mappings);
}

void Probing::look_for_allocator(std::span<const Mapping> mappings) {
  program_has_allocator_ =
      program_has_allocator_ || std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
        const std::optional<ModuleAddress> found = modules_.resolve(mapping.start);
        return found && std::find(probed_files_.begin(), probed_files_.end(), found->module) != probed_files_.end();
      });
}

Location Probing::frame_at(std::uint64_t address) {
  const std::optional<ModuleAddress> found = modules_.resolve(address);
  if (!found) {
    has_frames_in_no_file_ = true;
    return {.address = address, .module = std::nullopt, .module_offset = 0};
  }
  const std::size_t index = static_cast<std::size_t>(found->module);
  if (index >= is_used_.size()) is_used_.resize(modules_.module_count());
  if (!is_used_[index]) {
    is_used_[index] = true;
    used_modules_.push_back(found->module);
  }
  return {.address = address, .module = found->module, .module_offset = found->vaddr};
}

std::vector<ModuleId> Probing::close_unmapped() {
  constexpr std::size_t kMaxDeleted = 32;
  const ModuleMap::Unmapped unmapped = modules_.unmapped(kMaxDeleted);
  for (const std::vector<ModuleId>* group : {&unmapped.named, &unmapped.deleted}) {
    for (const ModuleId id : *group) {
      // Looked at for as long as they have probes.
      const bool is_probed = std::find(allocator_files_.begin(), allocator_files_.end(), id) != allocator_files_.end();
      if (is_probed) continue;
      unwinding_->forget_file(id);
      modules_.close_file(id);
    }
  }
  open_after_closing_ = modules_.open_files();
  return unmapped.deleted;
}

UniqueFd Probing::open_for_symbols(ModuleId id) {
  if (modules_.module(id).image) ++files_for_symbols_;
  if (files_for_symbols_ <= max_open_modules_) return modules_.open_file(id);
  if (files_for_symbols_ == max_open_modules_ + 1) {
    log_warning(
        fmt::format("only the functions of {} files get names: the limit of open files is reached; raise ulimit -n",
                    max_open_modules_));
  }
  return {};
}

void Probing::update_addresses(std::span<const Mapping> mappings) {
  for (const Mapping& mapping : mappings) {
    const std::optional<ModuleAddress> found = modules_.resolve(mapping.start);
    if (!found) continue;
    update_base(found->module);
    const auto allocator_file = std::find(allocator_files_.begin(), allocator_files_.end(), found->module);
    if (allocator_file != allocator_files_.end()) update_allocator_ranges();
  }
}

void Probing::probe_late(ModuleId id, const FileStudy& study) {
  const Result<void> probed = probe_module(id, false, study);
  if (probed) return;
  log_warning(fmt::format("{}: {}", modules_.module(id).path, probed.error().what));
  tracer_.count_loss(HAWK_LOSS_FUNCTION_NOT_PROBED);
}

void Probing::read_tables(std::vector<ModuleId> ids) {
  std::erase_if(ids, [&](ModuleId id) {
    if (unwinding_->wants_table(modules_, id)) return false;
    modules_.settle(id);
    return true;
  });
  // What is read soon comes first: a large library takes a tenth of a second.
  std::stable_sort(ids.begin(), ids.end(), [&](ModuleId a, ModuleId b) {
    return code_bytes(modules_.module(a)) < code_bytes(modules_.module(b));
  });
  reader_.read(modules_, ids, {.code = false, .table = true}, [&](ModuleId id, FileStudy study) {
    take_table(id, std::move(study));
    unwinding_->publish_now_and_then(modules_);
  });
}

void Probing::take_some_mappings(std::span<const Mapping> mappings) {
  std::vector<ModuleId> added;
  for (const Mapping& mapping : mappings) {
    const std::optional<ModuleId> id = modules_.add(mapping);
    if (id) added.push_back(*id);
  }
  // What is known helps at once; the rest takes milliseconds.
  unwinding_->publish_changes(modules_);
  update_addresses(mappings);
  for (const Mapping& mapping : mappings) breakpoints_->note_mapping(mapping);
  if (added.empty()) return;
  // Probes first: blocks that come before them are lost.
  reader_.read(modules_, added, {.code = true, .plans = tracer_.plans(), .table = false},
               [&](ModuleId id, const FileStudy& study) { probe_late(id, study); });
  update_addresses(mappings);
  read_tables(std::move(added));
  unwinding_->publish(modules_);
}

void Probing::note_studied(std::span<const NewFile> files) {
  for (const NewFile& file : files) {
    // Something else may have been mapped there.
    const auto is_it = [&](const MappedCode& code) {
      return code.start <= file.start && file.start < code.end && code.device == file.device &&
             code.inode == file.inode;
    };
    const auto found = std::find_if(modules_.code().begin(), modules_.code().end(), is_it);
    if (found == modules_.code().end()) continue;
    const bool has_probes = std::find(probed_files_.begin(), probed_files_.end(), found->module) != probed_files_.end();
    // Probes that could not be placed in this process may be in the next.
    const FileWants wants = {.code = true, .plans = tracer_.plans(), .table = false};
    const FileStudy study = has_probes ? FileStudy() : reader_.read(modules_.module(found->module), wants);
    if (has_probes || (study.code && study.code->allocator.functions.empty()))
      tracer_.note_studied(file.key, has_probes);
  }
}

void Probing::take_new_mappings(std::span<const Mapping> mappings, bool of_one_program) {
  // New files are open until they have been studied.
  constexpr std::size_t kMappingsAtOnce = 64;
  while (!mappings.empty()) {
    const std::size_t count = std::min(mappings.size(), kMappingsAtOnce);
    take_some_mappings(mappings.first(count));
    if (of_one_program) look_for_allocator(mappings.first(count));
    mappings = mappings.subspan(count);
  }
}

}  // namespace hawk

#include "userspace/attach/unwind_tables.h"

#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "userspace/attach/read_ahead.h"
#include "userspace/base/log.h"
#include "userspace/elf/elf_layout.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {
namespace {

constexpr unsigned kMinorBits = 20;

/// The kernel's own form of a device number (include/linux/kdev_t.h), from ours (Mapping::device).
std::uint32_t kernel_device(std::uint64_t device) {
  return static_cast<std::uint32_t>(device >> 32 << kMinorBits | (device & ((1u << kMinorBits) - 1)));
}

constexpr std::uint64_t kPageBytes = 4096;

/// Where the pages of the file's code end, at most `code.end`. The dynamic linker maps a whole file as its first
/// segment and then the others over it; if that first one is the code, its mapping was announced as larger than it is
/// now.
std::uint64_t end_of_code(const MappedCode& code, const MappedModule& module) {
  if (!module.image || !code.bias) return code.end;
  const std::uint64_t bytes = code.end - code.start;
  for (const LoadSegment& segment : module.image->code()) {
    const std::uint64_t segment_end = segment.file_offset + segment.file_bytes;
    if (segment_end <= code.file_offset || segment.file_offset >= code.file_offset + bytes) continue;
    const std::uint64_t pages_end = (segment_end + kPageBytes - 1) / kPageBytes * kPageBytes;
    return std::min(code.end, code.start + (pages_end - code.file_offset));
  }
  return code.end;
}

hawk_code_range code_range_of(const MappedCode& code, const MappedModule& module, const StoredTable& table) {
  hawk_code_range range = {};
  range.start = code.start;
  range.end = end_of_code(code, module);
  range.file_offset = code.file_offset;
  range.inode = code.inode;
  range.device = kernel_device(code.device);
  if (!code.bias) return range;
  // The difference may be "negative": offsets are counted modulo 2^64 by the kernel side as well.
  range.base = code.start - (code.file_offset + *code.bias) + table.base_vaddr;
  range.first_row = table.first_row;
  range.row_count = table.row_count;
  return range;
}

/// Whether no offset in the file is in two of them.
bool are_apart(const std::vector<LoadSegment>& segments) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const LoadSegment &a = segments[i], &b = segments[j];
      if (a.file_offset < b.file_offset + b.file_bytes && b.file_offset < a.file_offset + a.file_bytes) return false;
    }
  }
  return true;
}

hawk_code_range code_of_segment(const LoadSegment& segment, const StoredTable& table) {
  hawk_code_range code = {};
  code.start = segment.file_offset;
  code.end = segment.file_offset + segment.file_bytes;
  code.base = table.base_vaddr - (segment.vaddr - segment.file_offset);
  code.first_row = table.first_row;
  code.row_count = table.row_count;
  return code;
}

/// The identities that the kernel may use for the file: that of its mappings, and before those exist that of stat.
std::vector<hawk_file_part> names_of(const MappedModule& module) {
  const std::uint64_t device = module.file.file.device;
  std::vector<hawk_file_part> names = {
      {.inode = module.inode, .device = kernel_device(module.device), .number = 0},
      {.inode = module.file.file.inode, .device = ::major(device) << kMinorBits | ::minor(device), .number = 0}};
  if (names[0].inode == names[1].inode && names[0].device == names[1].device) names.pop_back();
  std::erase_if(names, [](const hawk_file_part& name) { return name.inode == 0; });
  return names;
}

/// Those of modules that are new. A file that is new in this process may be known from another: its code runs while its
/// probes are placed, which comes before its table is asked for.
void add_known_tables(const ModuleMap& modules, UnwindStore& store, std::vector<StoredTable>& tables) {
  for (std::size_t i = tables.size(); i < modules.module_count(); ++i) {
    tables.push_back(store.find(modules.module(ModuleId(i))).value_or(StoredTable{}));
  }
}

}  // namespace

std::vector<FilePart> file_parts_of(const MappedModule& module, const StoredTable& table) {
  if (module.is_vdso) return {};
  std::vector<LoadSegment> segments = {{.file_bytes = std::numeric_limits<std::int64_t>::max(), .executable = true}};
  if (module.image) {
    if (module.image->fd() < 0 || table.row_count == 0) return {};
    segments = module.image->code();
    if (segments.size() > HAWK_MAX_FILE_PARTS || !are_apart(segments)) return {};
  }
  std::vector<FilePart> parts;
  for (hawk_file_part name : names_of(module)) {
    for (const LoadSegment& segment : segments) {
      parts.push_back({.part = name, .code = code_of_segment(segment, table), .use = table.use});
      ++name.number;
    }
  }
  return parts;
}

std::vector<hawk_code_range> code_ranges_of(const ModuleMap& modules, std::span<const StoredTable> tables,
                                            std::size_t max_ranges) {
  std::vector<hawk_code_range> ranges;
  ranges.reserve(modules.code().size());
  for (const MappedCode& code : modules.code()) {
    const MappedModule& module = modules.module(code.module);
    if (!module.image && !module.is_vdso) continue;
    const std::size_t index = static_cast<std::size_t>(code.module);
    ranges.push_back(code_range_of(code, module, index < tables.size() ? tables[index] : StoredTable{}));
  }
  if (ranges.size() > max_ranges) {
    std::erase_if(ranges, [](const hawk_code_range& range) { return range.row_count == 0; });
  }
  if (ranges.size() > max_ranges) ranges.resize(max_ranges);
  return ranges;
}

UnwindTables::UnwindTables(Tracer& tracer, UnwindStore& store, bool uses_tables)
    : tracer_(tracer), store_(store), uses_tables_(uses_tables) {}

UnwindTables::UnwindTables(const UnwindTables& maker, Tracer& tracer)
    : tracer_(tracer),
      store_(maker.store_),
      uses_tables_(maker.uses_tables_),
      tables_(maker.tables_),
      published_files_(maker.published_files_),
      by_build_id_(maker.by_build_id_),
      info_(maker.info_) {
  for (const std::optional<PublishedFile>& file : published_files_) {
    if (!file) continue;
    for (const hawk_file_part& part : file->parts) store_.share_part(part);
  }
}

UnwindTables::~UnwindTables() {
  for (std::size_t i = 0; i < published_files_.size(); ++i) forget_parts(i);
}

bool UnwindTables::wants_table(const ModuleMap& modules, ModuleId id) {
  const MappedModule& module = modules.module(id);
  if (!uses_tables_ || (!module.image && !module.is_vdso)) return false;
  if (std::optional<StoredTable> stored = store_.find(module)) {
    known_.emplace_back(id, *std::move(stored));
    if (!module.build_id.empty()) by_build_id_.emplace(module.build_id, id);
    return false;
  }
  if (module.build_id.empty()) return true;
  const auto [known, is_new] = by_build_id_.emplace(module.build_id, id);
  if (!is_new) same_files_.emplace_back(id, known->second);
  return is_new;
}

void UnwindTables::take_table(const ModuleMap& modules, ModuleId id, std::optional<FileTable> read,
                              const std::string& gap) {
  const bool is_read = read.has_value();
  FileTable table = std::move(read).value_or(FileTable{});
  if (!is_read) table.table.unsupported[gap.empty() ? "it was not read" : gap] = 1;
  for (const auto& [reason, rows] : table.table.unsupported) {
    info_.unsupported_rules.push_back({.module = id, .reason = reason, .rows = rows});
  }
  if (table.table.rows.empty()) return note_without_table(modules, id, table.table);
  unstored_.emplace_back(id, std::move(table));
}

void UnwindTables::note_without_table(const ModuleMap& modules, ModuleId id, const UnwindTable& table) {
  const std::string& path = modules.module(id).path;
  info_.modules_without_table.push_back(id);
  if (table.unsupported.empty()) return log_verbose(fmt::format("{} has no unwind table", path));
  log_warning(fmt::format("{}: its unwind table is not used: {}", path, table.unsupported.begin()->first));
}

void UnwindTables::reserve_room() {
  std::uint64_t rows = 0;
  std::size_t rules = 0;
  for (const auto& [id, table] : unstored_) {
    rows += table.table.rows.size();
    rules += store_.count_new(table.rules);
  }
  store_.reserve(rows, rules);
}

void UnwindTables::store_table(const ModuleMap& modules, ModuleId id, FileTable table) {
  const std::uint64_t refused_before = store_.refused_rules();
  StoredTable& stored = tables_[static_cast<std::size_t>(id)];
  stored = store_.store(modules.module(id).path, std::move(table));
  const bool has_refused = store_.refused_rules() != refused_before;
  has_refused_rules_ |= has_refused;
  // When the next process has mapped it, there may be room for its rules.
  if (stored.row_count != 0 && !has_refused) store_.note_stored(modules.module(id), stored);
  if (stored.row_count != 0) return;
  info_.unsupported_rules.push_back({.module = id, .reason = "no room for more rows", .rows = 1});
  info_.modules_without_table.push_back(id);
}

void UnwindTables::store_tables(const ModuleMap& modules) {
  add_known_tables(modules, store_, tables_);
  reserve_room();
  for (auto& [id, table] : known_) tables_[static_cast<std::size_t>(id)] = std::move(table);
  for (auto& [id, table] : unstored_) store_table(modules, id, std::move(table));
  for (const auto& [id, first] : same_files_)
    tables_[static_cast<std::size_t>(id)] = tables_[static_cast<std::size_t>(first)];
  known_.clear();
  unstored_.clear();
  same_files_.clear();
}

void UnwindTables::publish_files(const ModuleMap& modules) {
  published_files_.resize(modules.module_count());
  for (std::size_t i = 0; i < published_files_.size(); ++i) {
    const MappedModule& module = modules.module(ModuleId(i));
    const FileIdentity mapped = {.device = module.device, .inode = module.inode};
    const bool is_published = published_files_[i] && published_files_[i]->mapped == mapped;
    if (is_published || (module.image && tables_[i].row_count == 0)) continue;
    if (!published_files_[i]) published_files_[i].emplace();
    published_files_[i]->mapped = mapped;
    add_parts(*published_files_[i], file_parts_of(module, tables_[i]));
  }
}

void UnwindTables::add_parts(PublishedFile& file, const std::vector<FilePart>& parts) {
  for (const FilePart& added : parts) {
    const auto is_it = [&](const hawk_file_part& part) {
      return part.inode == added.part.inode && part.device == added.part.device && part.number == added.part.number;
    };
    if (std::any_of(file.parts.begin(), file.parts.end(), is_it)) continue;
    store_.add_part(added);
    file.parts.push_back(added.part);
  }
}

void UnwindTables::forget_parts(std::size_t index) {
  if (!published_files_[index]) return;
  for (const hawk_file_part& part : published_files_[index]->parts) store_.remove_part(part);
  published_files_[index].reset();
}

void UnwindTables::forget_file(ModuleId id) {
  const std::size_t index = static_cast<std::size_t>(id);
  if (index < published_files_.size()) forget_parts(index);
}

void UnwindTables::warn_of_limits(const ModuleMap& modules) {
  if (modules.code().size() > HAWK_MAX_CODE_RANGES && !std::exchange(warned_of_ranges_, true)) {
    log_warning(fmt::format("the process has more than {} executable mappings: some are not unwound by their tables",
                            HAWK_MAX_CODE_RANGES));
  }
  if (has_refused_rules_ && !std::exchange(warned_of_rules_, true)) {
    log_warning(fmt::format("the files of the process have more than {} distinct unwind rules: some are not followed",
                            HAWK_MAX_RULES));
  }
}

void UnwindTables::publish_now_and_then(const ModuleMap& modules) {
  constexpr std::chrono::milliseconds kOften{1};
  if (std::chrono::steady_clock::now() - published_at_ > kOften) publish(modules);
}

void UnwindTables::publish(const ModuleMap& modules) {
  published_changes_ = modules.changes();
  if (!uses_tables_) return;
  store_tables(modules);
  warn_of_limits(modules);
  store_.publish_rules();
  publish_files(modules);
  tracer_.set_code_ranges(code_ranges_of(modules, tables_));
  published_at_ = std::chrono::steady_clock::now();
}

}  // namespace hawk

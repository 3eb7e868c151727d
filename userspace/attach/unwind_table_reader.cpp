#include "userspace/attach/unwind_table_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/base/threads.h"
#include "userspace/code/start_context.h"
#include "userspace/unwinding/outermost.h"

namespace hawk {
namespace {

std::string key_of_file(std::uint64_t device, std::uint64_t inode) { return fmt::format("{:x}:{}", device, inode); }

UnwindTable table_of(const std::optional<CallFrameSection>& section, RuleSet& rules) {
  if (!section) return {};
  if (section->is_too_large) {
    UnwindTable none;
    none.unsupported["call frame information of more than 64 MiB"] = 1;
    return none;
  }
  return read_unwind_table({.bytes = section->bytes,
                            .vaddr = section->vaddr,
                            .is_debug_frame = section->is_debug_frame,
                            .ends_at_zero = section->ends_at_zero},
                           rules);
}

}  // namespace

UnwindTable read_unwind_table_of(const ElfImage& image, RuleSet& rules) {
  UnwindTable table = table_of(image.eh_frame(), rules);
  if (table.rows.empty() && table.unsupported.empty()) table = table_of(image.debug_frame(), rules);
  if (const auto entry = image.entry_vaddr()) end_at_entry_point(table, *entry);
  if (const auto start = find_start_context(image)) end_at_start_of(table, *start);
  return table;
}

TimedTable time_reading(const ElfImage& image, RuleSet& rules) {
  const auto began = std::chrono::steady_clock::now();
  UnwindTable table = read_unwind_table_of(image, rules);
  return {.table = std::move(table), .took = std::chrono::steady_clock::now() - began};
}

std::vector<UnwindTableReader::Source> UnwindTableReader::sources_of(int proc_pid,
                                                                     const std::vector<Mapping>& mappings) {
  std::map<std::string, const Mapping*> files;  // the largest mapping of each
  for (const Mapping& mapping : mappings) {
    if (!mapping.executable || mapping.inode == 0) continue;
    const Mapping*& largest = files[key_of_file(mapping.device, mapping.inode)];
    if (largest == nullptr || mapping.end - mapping.start > largest->end - largest->start) largest = &mapping;
  }
  std::vector<std::pair<const Mapping*, Source>> found;
  found.reserve(files.size());
  for (const auto& [key, mapping] : files) {
    found.emplace_back(mapping, Source{.path = map_files_path(proc_pid, mapping->start, mapping->end), .key = key});
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first->end - a.first->start > b.first->end - b.first->start; });
  std::vector<Source> sources;
  sources.reserve(found.size());
  for (auto& [mapping, source] : found) sources.push_back(std::move(source));
  return sources;
}

std::vector<UnwindTableReader::Source> UnwindTableReader::sources_of(const std::vector<std::string>& paths) {
  std::vector<Source> sources;
  sources.reserve(paths.size());
  for (const std::string& path : paths) sources.push_back({.path = path, .key = path});
  return sources;
}

std::string UnwindTableReader::key_of(const MappedModule& module) {
  return module.inode != 0 ? key_of_file(module.device, module.inode) : module.path;
}

UnwindTableReader::UnwindTableReader(std::vector<Source> sources, std::size_t thread_count)
    : rules_(thread_count), numbers_(thread_count) {
  for (Source& source : sources) {
    by_key_.emplace(source.key, entries_.size());
    entries_.emplace_back();
    entries_.back().source = std::move(source);
  }
  threads_.reserve(thread_count);
  for (std::size_t i = 0; i < thread_count; ++i) {
    std::jthread thread = try_thread([this, i] { work(i); });
    if (thread.joinable()) threads_.push_back(std::move(thread));
  }
  if (threads_.empty()) work(0);
}

UnwindTableReader::~UnwindTableReader() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  threads_.clear();
}

std::optional<TimedTable> UnwindTableReader::read(const std::string& path, RuleSet& rules, FileState& file) {
  RegularFile opened = find_regular_file(path);
  if (!opened.fd) return std::nullopt;
  file = opened.state;
  const Result<ElfImage> image = ElfImage::make(std::move(opened.fd), path);
  if (!image) return std::nullopt;
  return time_reading(*image, rules);
}

void UnwindTableReader::work(std::size_t thread) {
  try {
    RuleSet rules;
    read_entries(thread, rules);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    while (next_ < entries_.size()) entries_[next_++].is_read = true;  // without a table
    read_one_.notify_all();
  }
}

void UnwindTableReader::read_entries(std::size_t thread, RuleSet& rules) {
  std::unique_lock lock(mutex_);
  while (!stopped_ && next_ < entries_.size()) {
    Entry& entry = entries_[next_++];
    const bool is_within_budget = rows_read_ < kMaxRowsInSum;
    lock.unlock();
    FileState file;
    // Who finds no memory for a table has none: take() waits for every entry.
    std::optional<TimedTable> table;
    try {
      if (is_within_budget) table = read(entry.source.path, rules, file);
    } catch (const std::bad_alloc&) {
      table.reset();
    }
    lock.lock();
    if (table) rows_read_ += table->table.rows.size();
    try {
      const auto known = static_cast<std::ptrdiff_t>(rules_[thread].size());
      rules_[thread].insert(rules_[thread].end(), rules.rules().begin() + known, rules.rules().end());
    } catch (const std::bad_alloc&) {
      table.reset();
    }
    entry.file = file;
    entry.table = std::move(table);
    entry.thread = thread;
    entry.is_read = true;
    read_one_.notify_all();
  }
}

const std::vector<std::uint32_t>& UnwindTableReader::numbers_of(std::size_t thread, RuleSet& rules) {
  std::vector<std::uint32_t>& numbers = numbers_[thread];
  while (numbers.size() < rules_[thread].size()) {
    const std::size_t number = numbers.size();
    const bool is_reserved = number < HAWK_FIRST_RULE;
    numbers.push_back(is_reserved ? static_cast<std::uint32_t>(number) : rules.number_of(rules_[thread][number]));
  }
  return numbers;
}

std::optional<TimedTable> UnwindTableReader::take(const MappedModule& module, RuleSet& rules) {
  std::unique_lock lock(mutex_);
  const auto found = by_key_.find(key_of(module));
  if (found == by_key_.end() || threads_.empty()) return std::nullopt;
  Entry& entry = entries_[found->second];
  read_one_.wait(lock, [&] { return entry.is_read; });
  std::optional<TimedTable> table = std::exchange(entry.table, std::nullopt);
  if (!table || !(entry.file == module.file)) return std::nullopt;
  const std::vector<std::uint32_t>& numbers = numbers_of(entry.thread, rules);
  lock.unlock();
  for (hawk_row& row : table->table.rows) row.rule = numbers[row.rule];
  return table;
}

}  // namespace hawk

#include "userspace/attach/read_ahead.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <new>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/base/threads.h"

namespace hawk {
namespace {

std::string key_of_file(std::uint64_t device, std::uint64_t inode) { return fmt::format("{:x}:{}", device, inode); }

}  // namespace

std::vector<ReadAhead::Source> ReadAhead::sources_of(int proc_pid, const std::vector<Mapping>& mappings) {
  std::map<std::string, const Mapping*> files;  // the largest mapping of each
  for (const Mapping& mapping : mappings) {
    if (!mapping.executable || mapping.inode == 0) continue;
    const Mapping*& largest = files[key_of_file(mapping.device, mapping.inode)];
    if (largest == nullptr || mapping.end - mapping.start > largest->end - largest->start) largest = &mapping;
  }
  // Large ones take longest. The others come in the order in which they are taken: what waits for the next one is not
  // kept waiting by those behind it.
  constexpr std::uint64_t kLargeBytes = 1u << 20;
  std::vector<std::pair<const Mapping*, Source>> found;
  found.reserve(files.size());
  for (const auto& [key, mapping] : files) {
    found.emplace_back(mapping, Source{.path = map_files_path(proc_pid, mapping->start, mapping->end),
                                       .key = key,
                                       .mapped_bytes = mapping->end - mapping->start});
  }
  const auto comes_first = [](const auto& a, const auto& b) {
    const std::uint64_t bytes = a.first->end - a.first->start, others = b.first->end - b.first->start;
    if (bytes != others && std::max(bytes, others) >= kLargeBytes) return bytes > others;
    return a.first->start < b.first->start;
  };
  std::sort(found.begin(), found.end(), comes_first);
  std::vector<Source> sources;
  sources.reserve(found.size());
  for (auto& [mapping, source] : found) sources.push_back(std::move(source));
  return sources;
}

std::vector<ReadAhead::Source> ReadAhead::sources_of(const std::vector<std::string>& paths) {
  std::vector<Source> sources;
  sources.reserve(paths.size());
  for (const std::string& path : paths) sources.push_back({.path = path, .key = path});
  return sources;
}

std::string ReadAhead::key_of(const MappedModule& module) {
  return module.inode != 0 ? key_of_file(module.device, module.inode) : module.path;
}

std::size_t ReadAhead::workers_for(const std::vector<Source>& sources) {
  // A worker begins in 10 ms of CPU time, in which another one reads 4 MiB of code, or some hundred small files. The
  // largest file is read by one of them in any case.
  constexpr std::uint64_t kBytes = 4u << 20;
  constexpr std::size_t kFiles = 100, kMostWorkers = 2;
  std::uint64_t sum = 0, largest = 0;
  for (const Source& source : sources) {
    sum += source.mapped_bytes;
    largest = std::max(largest, source.mapped_bytes);
  }
  return sum - largest >= kBytes || sources.size() >= kFiles ? kMostWorkers : 1;
}

ReadAhead::ReadAhead(std::vector<Source> sources, FileWants wants, FileReader& first, std::size_t worker_count)
    : wants_(wants) {
  entries_.reserve(sources.size());
  for (Source& source : sources) {
    by_key_.emplace(source.key, entries_.size());
    entries_.emplace_back();
    entries_.back().source = std::move(source);
  }
  unread_ = entries_.size();
  threads_.reserve(worker_count);
  for (std::size_t i = 0; i < worker_count; ++i) {
    std::jthread thread = try_thread([this, &first, i] {
      // A worker ends with the thread that started it.
      FileReader other = first.another();
      work(i == 0 ? first : other);
    });
    if (thread.joinable()) threads_.push_back(std::move(thread));
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  threads_.clear();
}

/// A file that is to be read.
struct ReadAhead::Opened {
  Entry* entry = nullptr;
  FileState file;
  ElfLayout layout;
};

/// Those that are left, up to some, as long as there are many: asked about together, they cost a worker less waiting.
std::span<ReadAhead::Entry> ReadAhead::begin_next() {
  constexpr std::size_t kMostAtOnce = 8, kShare = 32;
  const std::size_t left = entries_.size() - next_;
  const std::span<Entry> begun =
      std::span(entries_).subspan(next_, std::min(left, std::clamp<std::size_t>(left / kShare, 1, kMostAtOnce)));
  next_ += begun.size();
  return begun;
}

void ReadAhead::finish(Entry& entry, FileState file, std::optional<FileStudy> study) {
  const std::lock_guard lock(mutex_);
  if (study && study->table) rows_read_ += study->table->table.rows.size();
  entry.file = file;
  entry.study = std::move(study);
  if (!std::exchange(entry.is_read, true)) --unread_;
  if (unread_ == 0) read_all_.notify_all();
}

std::vector<ReadAhead::Opened> ReadAhead::open(std::span<Entry> entries) {
  std::vector<Opened> opened;
  opened.reserve(entries.size());
  for (Entry& entry : entries) {
    RegularFile file = find_regular_file(entry.source.path);
    if (!file.fd) continue;
    Result<ElfLayout> layout = ElfLayout::make(std::move(file.fd), entry.source.path);
    if (layout) opened.push_back({.entry = &entry, .file = file.state, .layout = std::move(*layout)});
  }
  return opened;
}

void ReadAhead::read(FileReader& reader, std::span<Entry> entries, FileWants wants) {
  const std::vector<Opened> opened = open(entries);
  std::vector<FileQuestion> questions;
  questions.reserve(opened.size());
  for (const Opened& file : opened) questions.push_back({.file = &file.layout, .wants = wants});
  reader.read(questions, [&](std::size_t number, FileStudy study) {
    finish(*opened[number].entry, opened[number].file, std::move(study));
  });
}

void ReadAhead::work(FileReader& reader) {
  std::unique_lock lock(mutex_);
  while (!stopped_ && next_ < entries_.size()) {
    const std::span<Entry> begun = begin_next();
    const FileWants wants = {
        .code = wants_.code, .plans = wants_.plans, .table = wants_.table && rows_read_ < kMaxRowsInSum};
    lock.unlock();
    // What there is no memory for is not read: take() waits for every entry.
    try {
      read(reader, begun, wants);
    } catch (const std::bad_alloc&) {
    }
    for (Entry& entry : begun) {
      if (!entry.is_read) finish(entry, {}, std::nullopt);
    }
    lock.lock();
    // Not after each file: with thousands of small ones, to wait for each takes longer than to read it.
    if (awaited_ != nullptr && awaited_->is_read) read_one_.notify_all();
  }
}

std::optional<FileStudy> ReadAhead::take(const MappedModule& module) {
  std::unique_lock lock(mutex_);
  const auto found = by_key_.find(key_of(module));
  if (found == by_key_.end() || threads_.empty()) return std::nullopt;
  Entry& entry = entries_[found->second];
  awaited_ = &entry;
  read_one_.wait(lock, [&] { return entry.is_read; });
  awaited_ = nullptr;
  std::optional<FileStudy> study = std::exchange(entry.study, std::nullopt);
  return entry.file == module.file ? std::move(study) : std::nullopt;
}

void ReadAhead::wait() {
  std::unique_lock lock(mutex_);
  if (threads_.empty()) return;
  read_all_.wait(lock, [&] { return unread_ == 0; });
}

}  // namespace hawk

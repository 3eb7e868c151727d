#include "userspace/attach/thread_watch.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "userspace/base/process_file.h"
#include "userspace/process/numbered_entries.h"

namespace hawk {
namespace {

// A name takes some 3 us.
constexpr std::size_t kNewNames = 1024;
constexpr std::size_t kNamesAgain = 128;
constexpr std::size_t kOpenNames = 8;  // of a target, of which there can be thousands

/// nullopt: there is no such thread any more. The kernel ends a name with a newline, and the name may contain others.
/// Each read makes the whole text, of at most 64 bytes, so that one is enough.
std::optional<std::string> read_name_in(const UniqueFd& file) {
  std::array<char, 256> text;
  const ssize_t got = file ? ::pread(file.get(), text.data(), text.size(), 0) : 0;
  if (got <= 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(got) - 1);
}

}  // namespace

ThreadWatch::ThreadWatch(const std::string& directory, std::size_t max_names)
    : process_(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), names_left_(max_names) {}

void ThreadWatch::read(std::uint64_t now_ns) {
  if (!threads_) threads_ = open_process_file_at(process_.get(), "task");
  const std::vector<int> ids = numbered_entries(threads_);
  if (ids.empty()) return;
  forget_ended(ids, now_ns);
  std::vector<int> again;  // from next_again_ on, and around
  for (const auto& [tid, name] : present_) again.push_back(tid);
  std::rotate(again.begin(), std::lower_bound(again.begin(), again.end(), next_again_), again.end());
  next_again_ = again.size() > kNamesAgain ? again[kNamesAgain] : 0;
  again.resize(std::min(again.size(), kNamesAgain));
  for (const int tid : again) read_name(tid, now_ns);
  std::size_t added = 0;
  for (const int tid : ids) {
    if (present_.contains(tid) || ++added > kNewNames) continue;
    read_name(tid, now_ns);
  }
}

void ThreadWatch::forget_ended(const std::vector<int>& ids, std::uint64_t now_ns) {
  std::erase_if(present_, [&](const auto& thread) {
    const bool has_ended = !std::binary_search(ids.begin(), ids.end(), thread.first);
    if (has_ended) events_.push_back({.time_ns = now_ns, .tid = thread.first, .name = {}});
    if (has_ended) names_.erase(thread.first);
    return has_ended;
  });
}

/// An open file is of the thread that had the number then; another one may have it by now.
std::optional<std::string> ThreadWatch::name_of(int tid) {
  if (const auto open = names_.find(tid); open != names_.end()) {
    if (std::optional<std::string> name = read_name_in(open->second)) return name;
    names_.erase(open);
  }
  UniqueFd file = open_process_file_at(process_.get(), fmt::format("task/{}/comm", tid));
  std::optional<std::string> name = read_name_in(file);
  if (name && names_.size() < kOpenNames) names_.emplace(tid, std::move(file));
  return name;
}

void ThreadWatch::read_name(int tid, std::uint64_t now_ns) {
  const std::optional<std::string> name = name_of(tid);
  if (!name) return;  // it has ended since then: the next reading shows that
  const auto known = present_.find(tid);
  if (known != present_.end() && known->second == *name) return;
  if (names_left_ == 0) {
    if (known == present_.end()) return;
    present_.erase(known);  // its new name is not kept, and the old one is no more
    events_.push_back({.time_ns = now_ns, .tid = tid, .name = {}});
    return;
  }
  --names_left_;
  present_[tid] = *name;
  events_.push_back({.time_ns = now_ns, .tid = tid, .name = *name});
}

}  // namespace hawk

#include "userspace/tracer/frame_store.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <utility>

#include "userspace/base/check.h"
#include "userspace/base/out_of_memory.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

constexpr std::size_t kSegmentBytes = HAWK_SEGMENT_FRAMES * sizeof(__u32);

Result<UniqueFd> make_segment() {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
  UniqueFd fd(bpf_map_create(BPF_MAP_TYPE_ARRAY, "frames", sizeof(__u32), sizeof(hawk_two_frames),
                             HAWK_SEGMENT_FRAMES / 2, &options));
  if (fd) return fd;
  return system_failure(ExitCode::kPrivilege, "make room for frames", errno);
}

}  // namespace

Result<std::unique_ptr<FrameStore>> FrameStore::make(const Kernel& kernel, std::uint32_t most, std::uint32_t spare) {
  std::unique_ptr<FrameStore> store(new FrameStore(kernel, most, spare));
  HAWK_TRY_VOID(store->open());
  return store;
}

FrameStore::~FrameStore() {
  thread_.end();
  if (memory_ != nullptr) ::munmap(memory_, most_ * sizeof(__u32));
}

Result<void> FrameStore::open() {
  void* addresses =
      ::mmap(nullptr, most_ * sizeof(__u32), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED) {
    return system_failure(ExitCode::kPrivilege, "reserve addresses for frames", errno);
  }
  memory_ = static_cast<std::byte*>(addresses);
  HAWK_TRY_VOID(thread_.prepare(kernel_.wakeups_fd, {.hand_over_first = [this] { return hand_over(); },
                                                     .make_more = [this] { return make_more(); }}));
  return make_segments(spare_ / HAWK_SEGMENT_FRAMES);
}

Result<void> FrameStore::make_segments(std::size_t count) {
  while (made_.size() < count) made_.push_back(HAWK_TRY(make_segment()));
  return {};
}

/// All new ones together, because the kernel takes 15 ms each time, for one segment as well as for many.
Result<void> FrameStore::hand_over() {
  std::vector<UniqueFd> segments = std::exchange(made_, {});
  if (segments.empty()) return {};
  const std::uint64_t ready = kernel_.state->frames_ready;
  std::vector<__u32> numbers, fds;
  for (const UniqueFd& segment : segments) {
    numbers.push_back(static_cast<__u32>(ready / HAWK_SEGMENT_FRAMES + numbers.size()));
    fds.push_back(static_cast<__u32>(segment.get()));
  }
  __u32 count = static_cast<__u32>(segments.size());
  LIBBPF_OPTS(bpf_map_batch_opts, options);
  if (bpf_map_update_batch(kernel_.segments_fd, numbers.data(), fds.data(), &count, &options) != 0) {
    return system_failure(ExitCode::kPrivilege, "add room for frames", errno);
  }
  if (ready != 0) least_room_ = std::min(least_room_.load(), room());
  const std::scoped_lock lock(mutex_);
  unmapped_.reserve(unmapped_.size() + segments.size());  // all of them or, without memory, none
  std::move(segments.begin(), segments.end(), std::back_inserter(unmapped_));
  __atomic_store_n(&kernel_.state->frames_ready, ready + segments.size() * HAWK_SEGMENT_FRAMES, __ATOMIC_SEQ_CST);
  return {};
}

/// The number of frames for which there should be room now.
std::uint64_t FrameStore::wanted() const {
  const std::uint64_t needed = __atomic_load_n(&kernel_.state->next_frame, __ATOMIC_ACQUIRE) + spare_;
  return std::min<std::uint64_t>(most_, (needed + HAWK_SEGMENT_FRAMES - 1) / HAWK_SEGMENT_FRAMES * HAWK_SEGMENT_FRAMES);
}

/// More than once if necessary: the programs continue at the same time.
Result<void> FrameStore::grow() {
  for (std::uint64_t all = wanted(); all > kernel_.state->frames_ready; all = wanted()) {
    const Result<void> made = make_segments((all - kernel_.state->frames_ready) / HAWK_SEGMENT_FRAMES);
    HAWK_TRY_VOID(hand_over());
    HAWK_TRY_VOID(made);
  }
  return {};
}

std::uint64_t FrameStore::room() const {
  const std::uint64_t stored = __atomic_load_n(&kernel_.state->next_frame, __ATOMIC_ACQUIRE);
  const std::uint64_t ready = __atomic_load_n(&kernel_.state->frames_ready, __ATOMIC_ACQUIRE);
  return ready - std::min(ready, stored);
}

std::uint64_t FrameStore::least_room() const { return std::min(least_room_.load(), room()); }

std::span<const __u32> FrameStore::frames(std::uint64_t first, std::uint32_t count) {
  while (mapped_ < first + count) map_next();
  return {reinterpret_cast<const __u32*>(memory_) + first, count};
}

UniqueFd FrameStore::take_unmapped() {
  const std::scoped_lock lock(mutex_);
  HAWK_CHECK(!unmapped_.empty(), "a stack has frames for which there is no room");
  UniqueFd first = std::move(unmapped_.front());
  unmapped_.erase(unmapped_.begin());
  return first;
}

/// Not before something in it is read: all pages of a mapped array count as our resident memory, and most segments are
/// those that are kept ahead.
void FrameStore::map_next() {
  if (!next_) next_ = take_unmapped();
  void* const mapped =
      ::mmap(memory_ + mapped_ * sizeof(__u32), kSegmentBytes, PROT_READ, MAP_SHARED | MAP_FIXED, next_.get(), 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  next_.reset();
  mapped_ += HAWK_SEGMENT_FRAMES;
}

Result<void> FrameStore::make_more() {
  // Before the check: a program that runs short from now on requests again.
  __atomic_store_n(&kernel_.state->frames_asked, 0, __ATOMIC_SEQ_CST);
  Result<void> grown = or_out_of_memory([this] { return grow(); });
  // If no memory was available, no more is requested.
  const bool is_full = kernel_.state->frames_ready == most_;
  if (is_full) MemoryThread::set_realtime(false);
  if (is_full || !grown) __atomic_store_n(&kernel_.state->frames_asked, 1, __ATOMIC_SEQ_CST);
  return grown;
}

}  // namespace hawk

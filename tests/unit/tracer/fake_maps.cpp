#include "tests/unit/tracer/fake_maps.h"

#include <sys/mman.h>
#include <unistd.h>

#include "userspace/base/check.h"

namespace hawk {
namespace {

/// Shared memory of `count` elements and a view of it to write through, which lives as long as the test.
template <class T>
T* share(UniqueFd& fd, std::size_t count) {
  fd = UniqueFd(::memfd_create("maps", MFD_CLOEXEC));
  HAWK_CHECK(fd && ::ftruncate(fd.get(), static_cast<off_t>(count * sizeof(T))) == 0, "memfd");
  void* data = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  HAWK_CHECK(data != MAP_FAILED, "mmap");
  return static_cast<T*>(data);
}

MappedArray view(const UniqueFd& fd, std::size_t bytes) {
  Result<MappedArray> array = MappedArray::make(fd.get(), bytes, "maps");
  HAWK_CHECK(array.has_value(), "map the memory");
  return std::move(*array);
}

}  // namespace

FakeMaps::FakeMaps()
    : counters_(share<hawk_counters>(counters_fd_, 2 * kStacks)),
      records_(share<hawk_stack_record>(records_fd_, kStacks)),
      locations_(share<__u64>(locations_fd_, kFrames)) {
  state_.next_stack = HAWK_FIRST_STACK;
  maps_.config.max_stacks = kStacks;
  maps_.config.cpu_mask = 1;
  maps_.state = &state_;
  maps_.targets = targets_;
  targets_[0].program = targets_[0].first_program = kProgram;
  records_[HAWK_NO_STACK].program = kProgram;
  maps_.counters = view(counters_fd_, 2 * kStacks * sizeof(hawk_counters));
  maps_.stack_records = view(records_fd_, kStacks * sizeof(hawk_stack_record));
  maps_.frames = [this](std::uint64_t first, std::uint32_t count) { return std::span(frames_).subspan(first, count); };
  maps_.locations = view(locations_fd_, kFrames * sizeof(__u64));
}

std::uint32_t FakeMaps::add_stack(const std::vector<std::uint64_t>& addresses, std::uint32_t program) {
  const std::uint32_t number = state_.next_stack++;
  records_[number] = {.first_frame = static_cast<__u32>(state_.next_frame),
                      .thread = 0,
                      .program = program,
                      .depth = static_cast<__u16>(addresses.size()),
                      .end = HAWK_END_OUTERMOST,
                      .guessed = 0};
  for (const std::uint64_t address : addresses) {
    const __u64 frame = state_.next_frame++;
    // A location for each frame, and not at the same index.
    const __u32 location = static_cast<__u32>(kFrames - 1 - frame);
    locations_[location] = address;
    frames_[frame] = location;
  }
  return number;
}

}  // namespace hawk

#include "userspace/tracer/block_reserve.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

/// The kernel takes 20 ms to make a map of this size. Larger ones take longer, but filling the previous one, which is
/// half as large, does too.
constexpr std::uint32_t kUrgentBlocks = 1U << 18;

}  // namespace

Result<std::unique_ptr<BlockReserve>> BlockReserve::make(const Kernel& kernel, std::uint32_t most) {
  std::unique_ptr<BlockReserve> reserve(new BlockReserve(kernel, most));
  HAWK_TRY_VOID(reserve->open());
  return reserve;
}

std::uint32_t BlockReserve::room_of(std::uint32_t maps, std::uint32_t most) {
  if (maps == 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::uint64_t{HAWK_RESERVE_BLOCKS} << (maps - 1)));
}

Result<void> BlockReserve::open() {
  HAWK_TRY_VOID(thread_.prepare(kernel_.wakeups_fd, {.hand_over_first = [this] { return hand_over(std::move(first_)); },
                                                     .make_more = [this] { return make_more(); }}));
  first_ = HAWK_TRY(make_map());
  return {};
}

std::uint32_t BlockReserve::made() const {
  const std::scoped_lock lock(mutex_);
  return static_cast<std::uint32_t>(maps_.size());
}

std::vector<int> BlockReserve::map_fds() const {
  const std::scoped_lock lock(mutex_);
  std::vector<int> fds;
  fds.reserve(maps_.size());
  for (const UniqueFd& map : maps_) fds.push_back(map.get());
  return fds;
}

std::uint32_t BlockReserve::room_used() const {
  return room_of(__atomic_load_n(&kernel_.state->reserves_used, __ATOMIC_ACQUIRE), most_);
}

Result<UniqueFd> BlockReserve::make_map() const {
  const std::uint32_t number = made();
  const std::uint32_t blocks = room_of(number + 1, most_) - room_of(number, most_);
  UniqueFd map(
      bpf_map_create(BPF_MAP_TYPE_HASH, "reserve", sizeof(hawk_block_key), sizeof(hawk_block), blocks, nullptr));
  if (map) return map;
  return system_failure(ExitCode::kPrivilege, "make a reserve of blocks", errno);
}

/// Programs have it as soon as this begins; then it waits for those that may have seen that there was none.
Result<void> BlockReserve::hand_over(UniqueFd map) {
  const __u32 number = made();
  const int fd = map.get();
  if (bpf_map_update_elem(kernel_.maps_fd, &number, &fd, BPF_ANY) != 0) {
    return system_failure(ExitCode::kPrivilege, "add a reserve of blocks", errno);
  }
  const std::scoped_lock lock(mutex_);
  maps_.push_back(std::move(map));
  return {};
}

/// One that is not used yet, unless there are all. While the maps are small the thread goes before all others; for
/// larger ones that would keep the target from a processor for too long, and there is time.
Result<void> BlockReserve::make_more() {
  while (made() <= __atomic_load_n(&kernel_.state->reserves_used, __ATOMIC_ACQUIRE) && room_of(made(), most_) < most_) {
    MemoryThread::set_realtime(room_of(made(), most_) <= kUrgentBlocks);
    UniqueFd map = HAWK_TRY(make_map());
    HAWK_TRY_VOID(hand_over(std::move(map)));
  }
  return {};
}

}  // namespace hawk

#include "userspace/tracer/block_reserve.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "userspace/base/out_of_memory.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"

namespace hawk {
namespace {

/// After the kernel had no memory.
constexpr int kRetryMs = 100;
constexpr int kForever = -1;

/// To make a map of so many blocks takes the kernel 20 ms. Larger ones take longer, and so do programs to fill the one
/// before, which is half as large.
constexpr std::uint32_t kUrgentBlocks = 1U << 18;

/// While it makes small maps this thread goes before all others, because the programs do not wait. Where it may not, it
/// does what it can. For larger ones it would keep the target from a processor for too long, and there is time.
void hurry(bool is_urgent) {
  const sched_param parameter = {.sched_priority = is_urgent ? 1 : 0};
  ::sched_setscheduler(0, (is_urgent ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &parameter);
}

}  // namespace

Result<std::unique_ptr<BlockReserve>> BlockReserve::make(const Kernel& kernel, std::uint32_t most) {
  std::unique_ptr<BlockReserve> reserve(new BlockReserve(kernel, most));
  HAWK_TRY_VOID(reserve->open());
  return reserve;
}

BlockReserve::~BlockReserve() {
  if (!thread_.joinable()) return;
  ::eventfd_write(stop_.get(), 1);
  thread_.join();
}

std::uint32_t BlockReserve::room_of(std::uint32_t maps, std::uint32_t most) {
  if (maps == 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(most, std::uint64_t{HAWK_RESERVE_BLOCKS} << (maps - 1)));
}

Result<void> BlockReserve::open() {
  stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return system_failure(ExitCode::kPrivilege, "make an eventfd", errno);
  wakeups_ = HAWK_TRY(open_wakeups(kernel_.wakeups_fd));
  first_ = HAWK_TRY(make_map());
  return {};
}

void BlockReserve::start() {
  if (thread_.joinable() || opened_.try_wait()) return;
  thread_ = try_thread([this] { work(); });
  // Without it there is what is made, and no more.
  if (thread_.joinable()) return;
  open_for_programs();
  refused_ = true;
}

void BlockReserve::wait_until_open() {
  start();
  opened_.wait();
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
  UniqueFd map(bpf_map_create(BPF_MAP_TYPE_HASH, "reserve", sizeof(__u64), sizeof(hawk_block), blocks, nullptr));
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

/// One that is not used yet, unless there are all.
Result<void> BlockReserve::grow() {
  while (made() <= __atomic_load_n(&kernel_.state->reserves_used, __ATOMIC_ACQUIRE) && room_of(made(), most_) < most_) {
    hurry(room_of(made(), most_) <= kUrgentBlocks);
    UniqueFd map = HAWK_TRY(make_map());
    HAWK_TRY_VOID(hand_over(std::move(map)));
  }
  return {};
}

/// Until the programs ask, or time is up; false: it is time to end.
bool BlockReserve::wait(int timeout_ms) const {
  std::array<pollfd, 2> fds = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                {.fd = ring_buffer__epoll_fd(wakeups_.get()), .events = POLLIN, .revents = 0}}};
  ::poll(fds.data(), fds.size(), timeout_ms);
  return fds[0].revents == 0;
}

void BlockReserve::open_for_programs() {
  if (!or_out_of_memory([this] { return hand_over(std::move(first_)); })) refused_ = true;
  opened_.count_down();
}

void BlockReserve::work() {
  hurry(true);
  open_for_programs();
  int timeout_ms = kForever;
  while (wait(timeout_ms)) {
    ring_buffer__consume(wakeups_.get());
    const Result<void> grown = or_out_of_memory([this] { return grow(); });
    timeout_ms = grown ? kForever : kRetryMs;
    if (!grown) refused_ = true;
  }
}

}  // namespace hawk

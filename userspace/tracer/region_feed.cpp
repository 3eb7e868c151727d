#include "userspace/tracer/region_feed.h"

#include <bpf/libbpf.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "bpf/targets.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"
#include "userspace/tracer/memory_thread.h"

namespace hawk {
namespace {

static_assert(static_cast<int>(RegionKind::kAnonymous) == HAWK_REGION_ANONYMOUS);
static_assert(static_cast<int>(RegionKind::kBrk) == HAWK_REGION_BRK);
static_assert(static_cast<int>(RegionKind::kStack) == HAWK_REGION_STACK);
static_assert(static_cast<int>(RegionKind::kFile) == HAWK_REGION_FILE);
static_assert(static_cast<int>(RegionKind::kShared) == HAWK_REGION_SHARED);
static_assert(static_cast<int>(RegionKind::kShm) == HAWK_REGION_SHM);
static_assert(static_cast<int>(RegionKind::kKernel) == HAWK_REGION_KERNEL);
static_assert(kRegionKinds == HAWK_REGION_KINDS);
static_assert(static_cast<int>(RegionOrigin::kProgram) == HAWK_REGION_BY_PROGRAM);
static_assert(static_cast<int>(RegionOrigin::kAllocator) == HAWK_REGION_BY_ALLOCATOR);
static_assert(static_cast<int>(RegionOrigin::kOlder) == HAWK_REGION_OLDER);
static_assert(kRegionOrigins == HAWK_REGION_ORIGINS);

bool is_of_same_target(std::uint32_t a, std::uint32_t b) { return ((a ^ b) & HAWK_TARGET_MASK) == 0; }

RegionOwner owner_of(const hawk_region_event& event) {
  return {.stack = event.stack,
          .kind = static_cast<RegionKind>(event.kind),
          .origin = static_cast<RegionOrigin>(event.origin)};
}

}  // namespace

Result<std::unique_ptr<RegionFeed>> RegionFeed::make(int ring_fd) {
  std::unique_ptr<RegionFeed> feed(new RegionFeed());
  feed->ring_.reset(ring_buffer__new(ring_fd, take_record, feed.get(), nullptr));
  if (!feed->ring_) return system_failure(ExitCode::kPrivilege, "watch for changes of mappings", errno);
  feed->stop_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!feed->stop_) return system_failure(ExitCode::kPrivilege, "make an eventfd", errno);
  feed->thread_ = try_thread([feed = feed.get()] { feed->run(); });
  return feed;
}

RegionFeed::~RegionFeed() {
  if (thread_.joinable()) ::eventfd_write(stop_.get(), 1);
}

void RegionFeed::run() {
  MemoryThread::set_realtime(true);
  constexpr int kForever = -1;
  std::array<pollfd, 2> fds = {{{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                {.fd = ring_buffer__epoll_fd(ring_.get()), .events = POLLIN, .revents = 0}}};
  while (::poll(fds.data(), fds.size(), kForever) >= 0 || errno == EINTR) {
    if (fds[0].revents != 0) return;
    const std::scoped_lock lock(mutex_);
    read();
  }
}

int RegionFeed::take_record(void* feed, void* record, std::size_t bytes) {
  if (bytes >= sizeof(hawk_region_event)) {
    static_cast<RegionFeed*>(feed)->take(*static_cast<const hawk_region_event*>(record));
  }
  return 0;
}

void RegionFeed::read() { ring_buffer__consume(ring_.get()); }

void RegionFeed::take_memory(std::uint64_t key, Memory memory) {
  // What the target ran on before is gone.
  std::erase_if(memories_,
                [&](const auto& before) { return is_of_same_target(before.second.program, memory.program); });
  memories_[key] = std::move(memory);
}

void RegionFeed::take_fork(const hawk_region_event& event) {
  const auto maker = memories_.find(event.memory);
  if (maker == memories_.end()) return;
  Fork& fork = forks_[event.start];
  fork = {.table = maker->second.table.copied(), .program = event.program};
  // What was not announced may be missing in the copy, too.
  if (event.lost != maker->second.lost) fork.table.unsettle();
}

void RegionFeed::take(const hawk_region_event& event) {
  const auto known = memories_.find(event.memory);
  const AddressRange range = {event.start, event.end};
  if (event.change == HAWK_MEMORY_FORKED) return take_fork(event);
  if (event.change == HAWK_MEMORY_COPIED) {
    auto forked = forks_.extract(event.start);
    return take_memory(event.memory, {.table = forked ? std::move(forked.mapped().table) : RegionTable(),
                                      .program = event.program,
                                      .lost = event.lost});
  }
  if (event.change == HAWK_MEMORY_TAKEN)
    return take_memory(event.memory,
                       {.table = RegionTable::of_announced(), .program = event.program, .lost = event.lost});
  if (known == memories_.end()) return;
  RegionTable& table = known->second.table;
  if (event.change == HAWK_REGIONS_UNKNOWN) return table.unsettle();
  if (event.change == HAWK_REGION_UNMAPPED) return table.unmap(range);
  const RegionOwner owner = owner_of(event);
  return event.change == HAWK_REGION_GREW ? table.grow(range, owner) : table.map(range, owner);
}

RegionFeed::Memory* RegionFeed::memory_of(std::uint32_t program) {
  const auto found = std::find_if(memories_.begin(), memories_.end(),
                                  [&](const auto& memory) { return memory.second.program == program; });
  return found != memories_.end() ? &found->second : nullptr;
}

void RegionFeed::begin(std::uint64_t memory, std::uint32_t program, const std::vector<KnownRegion>& older) {
  const std::scoped_lock lock(mutex_);
  RegionTable table;
  table.add_older(older);
  memories_[memory] = {.table = std::move(table), .program = program, .lost = 0};
}

bool RegionFeed::is_unsettled(std::uint32_t program) {
  const std::scoped_lock lock(mutex_);
  read();
  const Memory* memory = memory_of(program);
  return memory != nullptr && !memory->table.is_settled();
}

void RegionFeed::settle(std::uint32_t program, const std::vector<KnownRegion>& known) {
  const std::scoped_lock lock(mutex_);
  read();  // what has changed before the list was read
  if (Memory* memory = memory_of(program)) memory->table.settle(known);
}

void RegionFeed::note_lost(std::uint64_t memory, std::uint32_t program, std::uint64_t lost) {
  const std::scoped_lock lock(mutex_);
  read();
  Memory* known = memory_of(program);
  if (known == nullptr) return take_memory(memory, {.table = {}, .program = program, .lost = lost});
  if (std::exchange(known->lost, lost) != lost) known->table.unsettle();
}

std::vector<std::pair<RegionOwner, RegionCounters>> RegionFeed::owners(std::uint32_t program) {
  const std::scoped_lock lock(mutex_);
  read();
  const Memory* memory = memory_of(program);
  if (memory == nullptr) return {};
  const auto& owners = memory->table.owners();
  return {owners.begin(), owners.end()};
}

void RegionFeed::forget(std::uint32_t program) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(memories_, [&](const auto& memory) { return is_of_same_target(memory.second.program, program); });
  std::erase_if(forks_, [&](const auto& fork) { return is_of_same_target(fork.second.program, program); });
}

}  // namespace hawk

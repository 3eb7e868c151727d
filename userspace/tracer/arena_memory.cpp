#include "userspace/tracer/arena_memory.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "bpf/live/geometry.h"
#include "userspace/tracer/cpu_numbers.h"

namespace hawk {
namespace {

/// Pages made ahead of growth: 8 MiB, room for 340,000 blocks, which no process allocates between request and
/// answer.
constexpr std::uint32_t kHeadroomPages = 2 * ArenaMemory::kPagesLow;
/// Pages to be made at a time: the kernel holds the arena's mutex that long.
constexpr std::uint32_t kPagesPerCall = 512;
/// How long one call of adjust_pages shrinks the table at most.
constexpr std::chrono::milliseconds kShrinkTime(25);

/// Runs a program with `range` as its argument; -1: it could not be run.
int run(int program_fd, hawk_page_range range) {
  LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &range, .ctx_size_in = sizeof(range));
  if (bpf_prog_test_run_opts(program_fd, &options) != 0) return -1;
  return static_cast<int>(options.retval);
}

hawk_geometry geometry_of(const hawk_arena_header& header) {
  return hawk_geometry_unpack(__atomic_load_n(&header.geometry, __ATOMIC_ACQUIRE));
}

}  // namespace

std::uint64_t next_arena_address() {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 32;  // programs know the low 32 bits alone
  static std::atomic<std::uint64_t> next = HAWK_ARENA_USER_ADDRESS;
  return next.fetch_add(kStep);
}

std::uint32_t ArenaMemory::pages_for(std::uint64_t blocks) {
  const std::uint64_t slots = blocks * 100 / HAWK_FULL_PERCENT;
  const std::uint32_t least = hawk_geometry_pages(hawk_geometry_start());
  return std::max(least, static_cast<std::uint32_t>(slots / HAWK_PAGE_SLOTS + 1));
}

Result<ArenaMemory> ArenaMemory::make(const ArenaPrograms& programs, std::uint32_t max_pages, hawk_state& state) {
  ArenaMemory memory(programs, max_pages, state);
  const std::uint32_t cpus = possible_cpu_numbers();
  const std::size_t header_bytes =
      offsetof(hawk_arena_header, population) + cpus * sizeof(hawk_arena_header::population[0]);
  const auto header_pages =
      static_cast<std::uint32_t>((header_bytes + HAWK_ARENA_PAGE_BYTES - 1) / HAWK_ARENA_PAGE_BYTES);
  if (!memory.make_pages(HAWK_ARENA_HEADER_PAGE, header_pages)) {
    return fail(ExitCode::kPrivilege, fmt::format("make {} pages of the BPF arena: no memory", header_pages));
  }
  // The kernel mapped the arena at the requested address.
  memory.header_ = reinterpret_cast<hawk_arena_header*>(programs.address);  // NOLINT(performance-no-int-to-ptr)
  memory.header_pages_ = header_pages;
  memory.header_->cpus = cpus;
  memory.header_->geometry = hawk_geometry_pack(hawk_geometry_start());
  if (!memory.supply()) return fail(ExitCode::kPrivilege, "make the pages of the live table: no memory");
  memory.used_before_ = memory.used();
  return memory;
}

std::uint32_t ArenaMemory::used() const { return hawk_geometry_pages(geometry_of(*header_)); }

std::uint64_t ArenaMemory::address_of(std::uint32_t page) const {
  return programs_.address + page * HAWK_ARENA_PAGE_BYTES;
}

bool ArenaMemory::make_pages(std::uint32_t first, std::uint32_t count) {
  return run(programs_.make_pages, {.address = address_of(first), .count = count}) == 0;
}

bool ArenaMemory::supply() {
  const std::uint32_t wanted = std::min(max_pages_, used() + kHeadroomPages);
  std::uint32_t ready = header_->pages_ready;
  while (ready < wanted) {
    const std::uint32_t count = std::min(kPagesPerCall, wanted - ready);
    if (!make_pages(HAWK_ARENA_LIVE_PAGE + ready, count)) return false;
    ready += count;
    __atomic_store_n(&header_->pages_ready, ready, __ATOMIC_RELEASE);
  }
  return true;
}

std::uint64_t ArenaMemory::resident_bytes() const {
  return (std::uint64_t{header_pages_} + header_->pages_ready) * HAWK_ARENA_PAGE_BYTES;
}

std::int64_t ArenaMemory::population() const {
  std::int64_t sum = 0;
  for (std::uint32_t cpu = 0; cpu < header_->cpus; ++cpu) {
    sum += __atomic_load_n(&header_->population[cpu].blocks, __ATOMIC_RELAXED);
  }
  return sum;
}

void ArenaMemory::shrink() {
  const auto end = std::chrono::steady_clock::now() + kShrinkTime;
  while (std::chrono::steady_clock::now() < end && run(programs_.shrink, {}) > 0) {
  }
}

void ArenaMemory::sweep() { run(programs_.sweep, {}); }

/// Only pages that were not in use at the last call either, some time ago: a program that is just about to lock a
/// bucket of a page that shrinking has taken away must still find it.
void ArenaMemory::free_unused() {
  const std::uint32_t used_now = used();
  const std::uint32_t keep = std::max(used_now, used_before_) + 2 * kHeadroomPages;
  const std::uint32_t ready = header_->pages_ready;
  used_before_ = used_now;
  if (ready <= keep) return;
  __atomic_store_n(&header_->pages_ready, keep, __ATOMIC_SEQ_CST);
  run(programs_.free_pages, {.address = address_of(HAWK_ARENA_LIVE_PAGE + keep), .count = ready - keep});
}

bool ArenaMemory::has_grown() const { return used() > hawk_geometry_pages(hawk_geometry_start()); }

bool ArenaMemory::adjust_pages(bool can_shrink) {
  // Before the check: a program that runs short from now on requests again.
  __atomic_store_n(&state_->pages_asked, 0, __ATOMIC_SEQ_CST);
  const bool supplied = supply();
  if (can_shrink) shrink();
  free_unused();
  return supplied;
}

std::span<const hawk_live_page> ArenaMemory::live_pages() const {
  const auto* header_page = reinterpret_cast<const hawk_live_page*>(header_);
  return {header_page + HAWK_ARENA_LIVE_PAGE, used()};
}

}  // namespace hawk

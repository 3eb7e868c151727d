// Kernels that do not preempt themselves, and what is counted if one begins to (bpf/live/alone.h).
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bpf/live/arena_layout.h"
#include "bpf/losses.h"
#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/told_worker.h"
#include "userspace/tables/losses.h"
#include "userspace/tracer/engine_parts.h"
#include "userspace/tracer/kernel_code.h"

namespace hawk {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr Way kTables[] = {Way::kSessionArena, Way::kMultiArena};

/// Where the kernel has a page of this process, in its map of all memory.
std::uint64_t kernel_address(const void* ours, std::uint64_t direct_map) {
  const auto address = reinterpret_cast<std::uintptr_t>(ours);
  const UniqueFd pages(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  std::uint64_t entry = 0;
  const auto at = static_cast<off_t>(address / kPageBytes * sizeof(entry));
  constexpr std::uint64_t kPresent = 1ULL << 63, kFrame = (1ULL << 55) - 1;
  if (::pread(pages.get(), &entry, sizeof(entry), at) != sizeof(entry) || (entry & kPresent) == 0)
    throw std::runtime_error("the page is not there");
  return direct_map + (entry & kFrame) * kPageBytes + address % kPageBytes;
}

std::size_t offset_of_count(const bpf_object& object) {
  const btf& types = *bpf_object__btf(&object);
  const btf_type& thread = *btf__type_by_id(&types, btf__find_by_name_kind(&types, "hawk_thread", BTF_KIND_STRUCT));
  const btf_member* members = btf_members(&thread);
  for (int i = 0; i < btf_vlen(&thread); ++i) {
    if (std::string_view(btf__name_by_offset(&types, members[i].name_off)) == "preemptions_at")
      return btf_member_bit_offset(&thread, i) / 8;
  }
  throw std::runtime_error("threads have no count");
}

/// Lets the programs take the word at this address of the kernel's for the count of the only thread that they know.
void set_count(const hawktrace& skeleton, std::uint64_t address) {
  const int slots = bpf_map__fd(skeleton.maps.thread_slots);
  const std::size_t at = offset_of_count(*skeleton.obj);
  std::vector<char> slot(bpf_map__value_size(skeleton.maps.thread_slots));
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < bpf_map__max_entries(skeleton.maps.thread_slots); ++i) {
    std::uint64_t count_at = 0;
    ASSERT_EQ(bpf_map_lookup_elem(slots, &i, slot.data()), 0);
    std::memcpy(&count_at, &slot[at], sizeof(count_at));
    if (count_at == 0) continue;
    ++found;
    std::memcpy(&slot[at], &address, sizeof(address));
    ASSERT_EQ(bpf_map_update_elem(slots, &i, slot.data(), BPF_ANY), 0);
  }
  EXPECT_EQ(found, 1U);
}

/// Allocates on one processor, and gives half of it back.
void work() {
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  if (::sched_setaffinity(0, sizeof(first), &first) != 0) ::_exit(1);
  void* volatile kept = std::malloc(100);
  void* volatile freed = kept != nullptr ? std::malloc(200) : nullptr;
  std::free(freed);
}

KERNEL_TEST_ON(preemption, is_counted_where_it_was_not_expected, kTables) {
  const TestEngine test(way, {.kernel_preempts = false});
  const Library library;
  ToldWorker worker(work);
  Tracer tracer = library.trace(*test.engine, worker.pid(), test.features.pid_filter);
  worker.run();
  std::vector<Drained> drained = test.engine->drain();
  if (!test.features.preempts_itself) {
    EXPECT_EQ(drained[tracer.number()].losses.total(), 0U);
  }
  const std::uint64_t before = drained[tracer.number()].losses.total();

  // What each update changes stands in for the kernel's count: as if the thread had been preempted in each.
  Engine::Parts& parts = test.engine->parts();
  std::size_t bytes = 0;
  const auto* header =
      static_cast<const hawk_arena_header*>(bpf_map__initial_value(parts.skeleton->maps.arena, &bytes));
  ASSERT_NE(header, nullptr);
  EXPECT_GT(header->population[0].insertions, 0U);
  set_count(*parts.skeleton, kernel_address(&header->population[0].blocks, parts.maps.state->direct_map));
  worker.run();
  tracer.stop();
  drained = test.engine->drain();
  const Drained& last = drained[tracer.number()];
  EXPECT_EQ(last.losses.total() - before, 3U);
  EXPECT_GE(last.losses[HAWK_LOSS_PREEMPTED], 3U);
  EXPECT_EQ(loss_texts()[HAWK_LOSS_PREEMPTED].json_name, "preempted");
  EXPECT_EQ(totals(drained[tracer.number()]), (Counters{600, 4, 400, 2}));
  test.engine->stop();
}

/// Of the only kind of engine that a kernel that preempts itself is given.
KERNEL_TEST_ON(preemption, is_off_where_the_kernel_preempts_itself, kTables) {
  const TestEngine test(way, {.kernel_preempts = true});
  const Library library;
  ToldWorker worker(work);
  Tracer tracer = library.trace(*test.engine, worker.pid(), test.features.pid_filter);
  worker.run();
  tracer.stop();
  const std::vector<Drained> drained = test.engine->drain();
  EXPECT_EQ(drained[tracer.number()].losses.total(), 0U);
  EXPECT_EQ(totals(drained[tracer.number()]), (Counters{300, 2, 200, 1}));
  test.engine->stop();
}

/// Address of a function as /proc/kallsyms has it.
std::uint64_t listed_address(std::string_view wanted) {
  std::ifstream symbols("/proc/kallsyms");
  std::uint64_t address = 0;
  std::string kind, name;
  for (std::string line; symbols >> std::hex >> address >> kind >> name; std::getline(symbols, line))
    if (name == wanted) return address;
  throw std::runtime_error("not listed");
}

TEST(kernel_code, is_read_where_the_kernel_has_it) {
  const KernelCodeReader reader;
  const std::optional<KernelCode> schedule = reader.read("schedule");
  ASSERT_TRUE(schedule.has_value());
  EXPECT_EQ(schedule->address, listed_address("schedule"));
  EXPECT_TRUE(std::any_of(schedule->bytes.begin(), schedule->bytes.end(), [](std::uint8_t byte) { return byte != 0; }));
  const std::optional<KernelCode> none = reader.read("no_function_has_this_name");
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->address, 0U);
  EXPECT_FALSE(reader.read(std::string(56, 'a')).has_value());
}

}  // namespace
}  // namespace hawk

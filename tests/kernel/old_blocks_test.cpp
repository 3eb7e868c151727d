// Blocks of programs that the target has replaced are removed from a real map while newer programs go on.
#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <set>

#include "bpf/layout.h"
#include "tests/kernel/harness/kernel_test.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/live_table_check.h"

namespace hawk {
namespace {

constexpr std::uint32_t kBlocksPerProgram = 100;

/// As programs have it.
__u64 key_of(std::uint32_t epoch, std::uint64_t address) {
  return static_cast<__u64>(epoch) << HAWK_EPOCH_SHIFT | address;
}

UniqueFd make_block_map() {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
  return UniqueFd(bpf_map_create(BPF_MAP_TYPE_HASH, "blocks", sizeof(__u64), sizeof(hawk_block), 1U << 16, &options));
}

void add_blocks(const UniqueFd& map, std::uint32_t epoch) {
  for (std::uint32_t i = 1; i <= kBlocksPerProgram; ++i) {
    const __u64 key = key_of(epoch, epoch * 0x10000ULL + i * 16);
    const hawk_block block = {.size_bytes = i, .stack = HAWK_FIRST_STACK, .exec_epoch = epoch};
    ASSERT_EQ(bpf_map_update_elem(map.get(), &key, &block, BPF_NOEXIST), 0);
  }
}

std::uint32_t count_blocks(const UniqueFd& map, std::uint32_t epoch) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 1; i <= kBlocksPerProgram; ++i) {
    const __u64 key = key_of(epoch, epoch * 0x10000ULL + i * 16);
    hawk_block block = {};
    count += bpf_map_lookup_elem(map.get(), &key, &block) == 0 && block.exec_epoch == epoch ? 1 : 0;
  }
  return count;
}

constexpr Way kOneWay[] = {Way::kSessionHash};

/// The number of the current program is read, then the map is: by then there may be programs beyond that one, any
/// number of them, and the bits that a key has for them have come round.
KERNEL_TEST_ON(old_blocks, newer_programs_keep_theirs, kOneWay) {
  constexpr std::uint32_t kRead = 1000;
  const UniqueFd map = make_block_map();
  ASSERT_TRUE(map);
  const std::set<std::uint32_t> older = {0, 1, kRead - 256, kRead - 200, kRead - 128, kRead - 1};
  const std::set<std::uint32_t> kept = {kRead,       kRead + 1,   kRead + 2,  kRead + 127,
                                        kRead + 129, kRead + 255, kRead + 300};
  for (const std::uint32_t epoch : older) add_blocks(map, epoch);
  for (const std::uint32_t epoch : kept) add_blocks(map, epoch);
  std::set<std::uint64_t> dropped;
  const Result<std::uint64_t> taken_away =
      drop_old_epochs(map.get(), kRead, [&](std::uint64_t address) { dropped.insert(address); });
  ASSERT_TRUE(taken_away.has_value());
  EXPECT_EQ(*taken_away, 0u);
  for (const std::uint32_t epoch : older) EXPECT_EQ(count_blocks(map, epoch), 0u) << epoch;
  for (const std::uint32_t epoch : kept) EXPECT_EQ(count_blocks(map, epoch), kBlocksPerProgram) << epoch;
  EXPECT_EQ(dropped.size(), older.size() * kBlocksPerProgram);
}

}  // namespace
}  // namespace hawk

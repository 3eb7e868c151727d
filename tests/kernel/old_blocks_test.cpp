// Blocks of programs that have ended are removed from a real map while others go on.
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

UniqueFd make_block_map() {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
  return UniqueFd(
      bpf_map_create(BPF_MAP_TYPE_HASH, "blocks", sizeof(hawk_block_key), sizeof(hawk_block), 1U << 16, &options));
}

void add_blocks(const UniqueFd& map, std::uint32_t program) {
  for (std::uint32_t i = 1; i <= kBlocksPerProgram; ++i) {
    const hawk_block_key key = {.address = 0x10000ULL + i * 16, .program = program};
    const hawk_block block = {.size_bytes = i, .stack = HAWK_FIRST_STACK, .program = program, .born = 0};
    ASSERT_EQ(bpf_map_update_elem(map.get(), &key, &block, BPF_NOEXIST), 0);
  }
}

std::uint32_t count_blocks(const UniqueFd& map, std::uint32_t program) {
  std::uint32_t count = 0;
  for (std::uint32_t i = 1; i <= kBlocksPerProgram; ++i) {
    const hawk_block_key key = {.address = 0x10000ULL + i * 16, .program = program};
    hawk_block block = {};
    count += bpf_map_lookup_elem(map.get(), &key, &block) == 0 && block.program == program ? 1 : 0;
  }
  return count;
}

constexpr Way kOneWay[] = {Way::kSessionHash};

/// All of them at the same addresses.
KERNEL_TEST_ON(old_blocks, programs_that_live_keep_theirs, kOneWay) {
  const UniqueFd map = make_block_map();
  ASSERT_TRUE(map);
  const std::set<std::uint32_t> ended = {1024, 1025, 2048, 5 * 1024};
  const std::set<std::uint32_t> living = {1026, 2049, 6 * 1024, ~0U};
  for (const std::uint32_t program : ended) add_blocks(map, program);
  for (const std::uint32_t program : living) add_blocks(map, program);
  std::size_t dropped = 0;
  const Result<void> done = drop_blocks_of_ended(
      map.get(), [&](std::uint32_t program) { return living.contains(program); },
      [&](const hawk_block_key& key) { dropped += ended.contains(key.program) ? 1 : 0; });
  ASSERT_TRUE(done.has_value());
  for (const std::uint32_t program : ended) EXPECT_EQ(count_blocks(map, program), 0u) << program;
  for (const std::uint32_t program : living) EXPECT_EQ(count_blocks(map, program), kBlocksPerProgram) << program;
  EXPECT_EQ(dropped, ended.size() * kBlocksPerProgram);
}

}  // namespace
}  // namespace hawk

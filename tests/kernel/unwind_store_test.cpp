// The tables by which the programs walk, when more files come than there is room for.
#include "userspace/attach/unwind_store.h"

#include <bpf/bpf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/operator_call_sites.h"

namespace hawk {
namespace {

constexpr std::uint32_t kRows = 100;
constexpr UnwindLimits kLimits = {.rows = 2000, .kept_rows = 1000, .rules = HAWK_FIRST_RULE + 40};

/// A file with a rule of its own, and one that all have.
FileTable table_of(std::int32_t file) {
  FileTable read;
  read.rules = {rule_without_operands(HAWK_RULE_PLAIN), rule_without_operands(HAWK_RULE_PLAIN)};
  read.rules[0].cfa_offset = 16;
  read.rules[1].cfa_offset = 1024 + 16 * file;
  for (std::uint32_t row = 0; row < kRows; ++row)
    read.table.rows.push_back({.offset = 16 * row, .rule = HAWK_FIRST_RULE + row % 2});
  return read;
}

StoredTable store(UnwindStore& unwinding, std::int32_t file) {
  FileTable read = table_of(file);
  unwinding.reserve(read.table.rows.size(), unwinding.count_new(read.rules));
  return unwinding.store("file", std::move(read));
}

bool overlap(const StoredTable& a, const StoredTable& b) {
  return a.first_row < b.first_row + b.row_count && b.first_row < a.first_row + a.row_count;
}

constexpr Way kOneWay[] = {Way::kMultiHash};

KERNEL_TEST_ON(unwind_store, what_nobody_uses_makes_room, kOneWay) {
  const TestEngine test(way);
  UnwindStore unwinding(*test.engine, kLimits);
  const StoredTable lasting = store(unwinding, 0);
  std::uint64_t most_rows = 0;
  for (std::int32_t file = 1; file < 1000; ++file) {
    const StoredTable stored = store(unwinding, file);
    ASSERT_EQ(stored.row_count, kRows) << file;
    ASSERT_FALSE(overlap(stored, lasting)) << file;
    most_rows = std::max(most_rows, unwinding.rows_in_sum());
    unwinding.publish_rules();
  }
  EXPECT_LE(most_rows, kLimits.kept_rows);
  EXPECT_LE(unwinding.rule_count(), kLimits.rules);
  EXPECT_EQ(unwinding.refused_rules(), 0U);
  const StoredTable again = store(unwinding, 0);
  EXPECT_EQ(again.first_row, lasting.first_row) << "it has been in use all the time";
}

KERNEL_TEST_ON(unwind_store, what_is_used_stays_when_there_is_no_room, kOneWay) {
  const TestEngine test(way);
  UnwindStore unwinding(*test.engine, kLimits);
  std::vector<StoredTable> used;
  for (std::int32_t file = 0; file < 20; ++file) {
    used.push_back(store(unwinding, file));
    ASSERT_EQ(used.back().row_count, kRows) << file;
  }
  EXPECT_EQ(store(unwinding, 20).row_count, 0U) << "there is no room for more rows";
  for (std::size_t i = 0; i < used.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(overlap(used[i], used[j]));
  }
  // Each has had its rule; that of the last one did not stay without rows.
  EXPECT_EQ(unwinding.rule_count(), HAWK_FIRST_RULE + 1 + used.size());
  used.pop_back();
  EXPECT_EQ(store(unwinding, 20).row_count, kRows);
}

KERNEL_TEST_ON(unwind_store, rules_that_nobody_uses_make_room, kOneWay) {
  const TestEngine test(way);
  UnwindStore unwinding(*test.engine, {.rules = HAWK_FIRST_RULE + 10});
  for (std::int32_t file = 0; file < 100; ++file) {
    ASSERT_EQ(store(unwinding, file).row_count, kRows) << file;
    EXPECT_EQ(unwinding.refused_rules(), 0U) << file;
  }
}

KERNEL_TEST_ON(unwind_store, a_part_of_a_file_uses_its_rows, kOneWay) {
  const TestEngine test(way);
  UnwindStore unwinding(*test.engine, kLimits);
  const hawk_file_part name = {.inode = 7, .device = 1, .number = 0};
  StoredTable stored = store(unwinding, 0);
  unwinding.add_part({.part = name, .code = {}, .use = stored.use});
  unwinding.share_part(name);
  const StoredTable area = {.first_row = stored.first_row, .row_count = stored.row_count};
  stored = {};
  unwinding.remove_part(name);
  for (std::int32_t file = 1; file < 100; ++file) ASSERT_FALSE(overlap(store(unwinding, file), area)) << file;
  unwinding.remove_part(name);
  bool is_others = false;
  for (std::int32_t file = 100; file < 200; ++file) is_others |= overlap(store(unwinding, file), area);
  EXPECT_TRUE(is_others);
}

std::vector<CallSiteRule> call_sites_of(std::uint32_t file) {
  std::vector<CallSiteRule> sites;
  for (std::uint64_t i = 1; i <= 10; ++i)
    sites.push_back({.return_vaddr = 16 * i, .cfa_offset_bytes = 16 + file, .saved_rbp_offset_bytes = {}});
  return sites;
}

std::size_t count_of(int map_fd) {
  std::size_t count = 0;
  for (__u64 key = 0, next = 0; bpf_map_get_next_key(map_fd, count == 0 ? nullptr : &key, &next) == 0; key = next)
    ++count;
  return count;
}

TEST(operator_rules, those_that_no_target_uses_make_room) {
  constexpr std::uint32_t kMost = 55;
  const UniqueFd map(
      bpf_map_create(BPF_MAP_TYPE_HASH, "operator_rules", sizeof(__u64), sizeof(hawk_operator_rule), kMost, nullptr));
  ASSERT_TRUE(map);
  OperatorRules rules(map.get(), kMost);
  const Result<OperatorRules::Use> lasting = rules.use(call_sites_of(0));
  ASSERT_TRUE(lasting);
  for (std::uint32_t file = 1; file < 100; ++file) {
    const Result<OperatorRules::Use> used = rules.use(call_sites_of(file));
    ASSERT_TRUE(used) << used.error().what;
    EXPECT_EQ((*used)->number, file) << "a number is never given again";
    ASSERT_LE(count_of(map.get()), kMost);
    ASSERT_EQ(*rules.use(call_sites_of(0)), *lasting);
  }
  std::vector<OperatorRules::Use> all;
  for (std::uint32_t file = 100; file < 104; ++file) all.push_back(*rules.use(call_sites_of(file)));
  EXPECT_FALSE(rules.use(call_sites_of(104))) << "all that there are are used";
  all.pop_back();
  EXPECT_TRUE(rules.use(call_sites_of(104)));
}

}  // namespace
}  // namespace hawk

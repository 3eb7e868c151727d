#include "userspace/attach/unwind_table_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

namespace hawk {
namespace {

std::vector<Mapping> own_mappings() {
  const Result<std::vector<Mapping>> own = read_mappings(::getpid());
  EXPECT_TRUE(own);
  return own.value_or(std::vector<Mapping>());
}

/// The files of this process.
class OwnFiles : public ::testing::Test {
 protected:
  OwnFiles() {
    for (const Mapping& mapping : own_mappings()) modules_.add(mapping);
    for (std::size_t i = 0; i < modules_.module_count(); ++i) {
      if (modules_.module(ModuleId(i)).image) with_image_.push_back(&modules_.module(ModuleId(i)));
    }
  }

  ModuleMap modules_{::getpid()};
  std::vector<const MappedModule*> with_image_;
};

/// Whether both say the same of every address; their rules may have other numbers.
bool same_rules(const UnwindTable& a, const RuleSet& rules_a, const UnwindTable& b, const RuleSet& rules_b) {
  if (a.base_vaddr != b.base_vaddr || a.rows.size() != b.rows.size() || a.unsupported != b.unsupported) return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const hawk_rule& rule_a = rules_a.rules()[a.rows[i].rule];
    const hawk_rule& rule_b = rules_b.rules()[b.rows[i].rule];
    if (a.rows[i].offset != b.rows[i].offset || std::memcmp(&rule_a, &rule_b, sizeof(rule_a)) != 0) return false;
  }
  return true;
}

TEST_F(OwnFiles, AreReadAsInOneThread) {
  for (const std::size_t threads : {1u, 2u, 7u}) {
    RuleSet rules, direct_rules;
    // So that the same rule does not happen to have the same number.
    rules.number_of({.cfa_offset = 12345,
                     .fp_offset = 0,
                     .load_offset = 0,
                     .kind = HAWK_RULE_PLAIN,
                     .base = 0,
                     .fp_rule = 0,
                     .is_guess = 0});
    UnwindTableReader reading(UnwindTableReader::sources_of(::getpid(), own_mappings()), threads);
    std::size_t rows = 0;
    for (const MappedModule* module : with_image_) {
      const std::optional<TimedTable> taken = reading.take(*module, rules);
      const UnwindTable direct = read_unwind_table_of(*module->image, direct_rules);
      ASSERT_TRUE(taken) << module->path;
      EXPECT_TRUE(same_rules(taken->table, rules, direct, direct_rules)) << module->path;
      rows += taken->table.rows.size();
    }
    EXPECT_GT(rows, 0u) << threads;
    EXPECT_EQ(rules.refused(), 0u);
  }
}

TEST_F(OwnFiles, AreTakenOnce) {
  RuleSet rules;
  UnwindTableReader reading(UnwindTableReader::sources_of(::getpid(), own_mappings()), 1);
  for (const MappedModule* module : with_image_) EXPECT_TRUE(reading.take(*module, rules)) << module->path;
  for (const MappedModule* module : with_image_) EXPECT_FALSE(reading.take(*module, rules)) << module->path;
}

TEST_F(OwnFiles, OfACommandAreFoundByPath) {
  ModuleMap expected(::getpid());
  const std::optional<ModuleId> id = expected.expect("/proc/self/exe");
  ASSERT_TRUE(id);
  RuleSet rules;
  UnwindTableReader reading(
      UnwindTableReader::sources_of(std::vector<std::string>{"/nonexistent/file", "/proc/self/exe"}), 1);
  const std::optional<TimedTable> table = reading.take(expected.module(*id), rules);
  ASSERT_TRUE(table);
  EXPECT_GT(table->table.rows.size(), 100u);
}

TEST_F(OwnFiles, AFileThatIsAnotherByNowIsNotTaken) {
  ASSERT_FALSE(with_image_.empty());
  const MappedModule& wanted = *with_image_.front();
  RuleSet rules;
  UnwindTableReader reading({{.path = "/bin/sh", .key = UnwindTableReader::key_of(wanted)}}, 1);
  EXPECT_FALSE(reading.take(wanted, rules));
}

TEST_F(OwnFiles, WhatCannotBeReadIsNotTaken) {
  ASSERT_FALSE(with_image_.empty());
  const MappedModule& wanted = *with_image_.front();
  for (const char* path : {"/nonexistent/file", "/etc/passwd", "/"}) {
    RuleSet rules;
    UnwindTableReader reading({{.path = path, .key = UnwindTableReader::key_of(wanted)}}, 2);
    EXPECT_FALSE(reading.take(wanted, rules)) << path;
  }
  RuleSet rules;
  UnwindTableReader nothing({}, 2);
  EXPECT_FALSE(nothing.take(wanted, rules));
}

TEST(UnwindTableReader, EndsAtOnceWhenNobodyTakesAnything) {
  const std::vector<Mapping> own = own_mappings();
  for (int round = 0; round < 5; ++round) UnwindTableReader reading(UnwindTableReader::sources_of(::getpid(), own), 2);
}

TEST(UnwindTableReader, LargestFilesComeFirstAndEachOnce) {
  const auto code = [](std::uint64_t start, std::uint64_t bytes, std::uint64_t inode) {
    return Mapping{.start = start,
                   .end = start + bytes,
                   .file_offset = 0,
                   .device = 1,
                   .inode = inode,
                   .executable = true,
                   .deleted = false,
                   .path = "/x"};
  };
  Mapping data = code(0x100000, 0x90000, 4);
  data.executable = false;
  const std::vector<UnwindTableReader::Source> sources = UnwindTableReader::sources_of(
      42, {code(0x1000, 0x1000, 1), code(0x8000, 0x3000, 2), code(0x20000, 0x2000, 1), code(0x50000, 0x9000, 0), data});
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].path, "/proc/42/map_files/8000-b000");
  EXPECT_EQ(sources[1].path, "/proc/42/map_files/20000-22000");
}

}  // namespace
}  // namespace hawk

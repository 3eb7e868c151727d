#include "userspace/attach/read_ahead.h"

#include <fcntl.h>
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

constexpr FileWants kAll = {.code = true, .table = true};

std::vector<ReadAhead::Source> own_sources() { return ReadAhead::sources_of(::getpid(), own_mappings()); }

TEST_F(OwnFiles, AreReadAsByOneWorker) {
  FileReader one(HAWK_FILE_WORKER);
  for (const std::size_t workers : {1u, 2u, 5u}) {
    FileReader first(HAWK_FILE_WORKER);
    ReadAhead reading(own_sources(), kAll, first, workers);
    std::size_t rows = 0;
    for (const MappedModule* module : with_image_) {
      std::optional<FileStudy> taken = reading.take(*module);
      ASSERT_TRUE(taken && taken->code && taken->table) << module->path;
      FileStudy direct = one.read({.file = &*module->image, .wants = kAll});
      ASSERT_TRUE(direct.code && direct.table) << module->path;
      EXPECT_EQ(taken->code->allocator.functions.size(), direct.code->allocator.functions.size()) << module->path;
      RuleSet rules;
      const UnwindTable a = std::move(*taken->table).numbered_by(rules),
                        b = std::move(*direct.table).numbered_by(rules);
      EXPECT_EQ(a.base_vaddr, b.base_vaddr);
      ASSERT_EQ(a.rows.size(), b.rows.size()) << module->path;
      EXPECT_TRUE(a.rows.empty() || std::memcmp(a.rows.data(), b.rows.data(), a.rows.size() * sizeof(hawk_row)) == 0);
      rows += a.rows.size();
    }
    EXPECT_GT(rows, 0u) << workers;
  }
}

ReadAhead::Source source_of(std::uint64_t mapped_bytes) {
  return {.path = "", .key = "", .mapped_bytes = mapped_bytes};
}

TEST(ReadAhead, HasAnotherWorkerWhereThatIsWorthItsStart) {
  constexpr std::uint64_t kMiB = 1u << 20;
  EXPECT_EQ(ReadAhead::workers_for({source_of(100 * kMiB)}), 1u) << "one file is read by one worker";
  EXPECT_EQ(ReadAhead::workers_for({source_of(2 * kMiB), source_of(kMiB), source_of(kMiB / 8)}), 1u)
      << "a small program";
  EXPECT_EQ(ReadAhead::workers_for({source_of(100 * kMiB), source_of(4 * kMiB)}), 2u);
  EXPECT_EQ(ReadAhead::workers_for(std::vector<ReadAhead::Source>(100, source_of(4096))), 2u) << "many small files";
}

TEST_F(OwnFiles, AreTakenOnce) {
  FileReader first(HAWK_FILE_WORKER);
  ReadAhead reading(own_sources(), kAll, first, 1);
  for (const MappedModule* module : with_image_) EXPECT_TRUE(reading.take(*module)) << module->path;
  for (const MappedModule* module : with_image_) EXPECT_FALSE(reading.take(*module)) << module->path;
}

TEST_F(OwnFiles, OfACommandAreFoundByPath) {
  ModuleMap expected(::getpid());
  const std::optional<ModuleId> id = expected.expect("/proc/self/exe");
  ASSERT_TRUE(id);
  FileReader first(HAWK_FILE_WORKER);
  ReadAhead reading(ReadAhead::sources_of(std::vector<std::string>{"/nonexistent/file", "/proc/self/exe"}), kAll, first,
                    1);
  const std::optional<FileStudy> study = reading.take(expected.module(*id));
  ASSERT_TRUE(study && study->table);
  EXPECT_GT(study->table->table.rows.size(), 100u);
}

TEST_F(OwnFiles, AFileThatIsAnotherByNowIsNotTaken) {
  ASSERT_FALSE(with_image_.empty());
  const MappedModule& wanted = *with_image_.front();
  FileReader first(HAWK_FILE_WORKER);
  ReadAhead reading({{.path = "/bin/sh", .key = ReadAhead::key_of(wanted)}}, kAll, first, 1);
  EXPECT_FALSE(reading.take(wanted));
}

TEST_F(OwnFiles, WhatCannotBeReadIsNotTaken) {
  ASSERT_FALSE(with_image_.empty());
  const MappedModule& wanted = *with_image_.front();
  FileReader first(HAWK_FILE_WORKER);
  for (const char* path : {"/nonexistent/file", "/etc/passwd", "/"}) {
    ReadAhead reading({{.path = path, .key = ReadAhead::key_of(wanted)}}, kAll, first, 2);
    EXPECT_FALSE(reading.take(wanted)) << path;
  }
  ReadAhead nothing({}, kAll, first, 2);
  EXPECT_FALSE(nothing.take(wanted));
}

TEST_F(OwnFiles, LeaveTheFirstReaderToOthersOnceTheyAreRead) {
  FileReader first(HAWK_FILE_WORKER);
  ReadAhead reading(own_sources(), kAll, first, 2);
  reading.wait();
  ASSERT_FALSE(with_image_.empty());
  EXPECT_TRUE(first.read({.file = &*with_image_.front()->image, .wants = kAll}).table);
}

/// A worker ends with the thread that has started it, as that of the first reader if it had to be started again.
TEST_F(OwnFiles, AReaderSurvivesTheThreadOfItsWorker) {
  FileReader first(HAWK_FILE_WORKER);
  { const ReadAhead reading(own_sources(), {.code = true}, first, 1); }
  ASSERT_FALSE(with_image_.empty());
  const FileStudy study = first.read({.file = &*with_image_.front()->image, .wants = kAll});
  EXPECT_EQ(study.gap, "");
  EXPECT_TRUE(study.code && study.table);
}

TEST(ReadAhead, EndsAtOnceWhenNothingIsTaken) {
  FileReader first(HAWK_FILE_WORKER);
  for (int round = 0; round < 5; ++round) const ReadAhead reading(own_sources(), kAll, first, 2);
}

TEST(ReadAhead, LargestFilesComeFirstAndEachOnce) {
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
  const std::vector<ReadAhead::Source> sources = ReadAhead::sources_of(
      42, {code(0x1000, 0x1000, 1), code(0x8000, 0x3000, 2), code(0x20000, 0x2000, 1), code(0x50000, 0x9000, 0), data});
  ASSERT_EQ(sources.size(), 2u);
  EXPECT_EQ(sources[0].path, "/proc/42/map_files/8000-b000");
  EXPECT_EQ(sources[1].path, "/proc/42/map_files/20000-22000");
}

}  // namespace
}  // namespace hawk

#include "userspace/study/file_reader.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <deque>
#include <new>
#include <string>
#include <vector>

#include "tests/support/small_elf.h"
#include "tests/unit/study/file_orders.h"
#include "userspace/study/file_contents.h"

namespace hawk {
namespace {

using ::testing::HasSubstr;

constexpr FileWants kAll = {.code = true, .table = true};

ElfLayout open_layout(const std::string& path) {
  Result<ElfLayout> layout = ElfLayout::make(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  HAWK_CHECK(layout.has_value(), path.c_str());
  return std::move(*layout);
}

/// A file with instructions for a misbehaving worker.
ElfLayout file_that(const std::string& order) {
  UniqueFd fd = testing::small_elf({testing::code_segment(kCodeAt, kCodeAt, kCodeBytes)});
  HAWK_CHECK(::pwrite(fd.get(), order.data(), order.size(), kOrderAt) == static_cast<ssize_t>(order.size()), "memfd");
  Result<ElfLayout> layout = ElfLayout::make(std::move(fd), "a test's file");
  HAWK_CHECK(layout.has_value(), "a test's file");
  return std::move(*layout);
}

/// The files of this process's program and libc.
constexpr std::array<const char*, 3> kFiles = {"/proc/self/exe", "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                               "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};

TEST(FileReader, FindsWhatIsFoundInThisProcess) {
  FileReader reader(HAWK_FILE_WORKER);
  for (const char* path : kFiles) {
    const ElfLayout layout = open_layout(path);
    FileStudy study = reader.read({.file = &layout, .wants = kAll});
    EXPECT_EQ(study.gap, "");
    ASSERT_TRUE(study.code && study.table) << path;
    const Result<ElfImage> image = ElfImage::make(UniqueFd(::open(path, O_RDONLY | O_CLOEXEC)), path);
    ASSERT_TRUE(image);
    const FileCode direct = read_code(*image);
    ASSERT_EQ(study.code->allocator.functions.size(), direct.allocator.functions.size());
    for (std::size_t i = 0; i < direct.allocator.functions.size(); ++i) {
      const AllocatorFunction &there = study.code->allocator.functions[i], &here = direct.allocator.functions[i];
      EXPECT_EQ(there.names, here.names);
      EXPECT_EQ(there.probe_offset, here.probe_offset);
      EXPECT_EQ(there.return_offsets, here.return_offsets);
    }
    RuleSet rules;
    const UnwindTable here = read_unwind_table_of(*image, rules), there = std::move(*study.table).numbered_by(rules);
    EXPECT_EQ(there.base_vaddr, here.base_vaddr);
    EXPECT_EQ(there.unsupported, here.unsupported);
    ASSERT_EQ(there.rows.size(), here.rows.size());
    EXPECT_EQ(std::memcmp(there.rows.data(), here.rows.data(), here.rows.size() * sizeof(hawk_row)), 0) << path;
  }
}

TEST(FileReader, AnswersManyQuestionsInTheirOrder) {
  FileReader reader(HAWK_FILE_WORKER);
  std::deque<ElfLayout> files;
  std::vector<FileQuestion> questions;
  for (int i = 0; i < 50; ++i) {
    files.push_back(open_layout(kFiles[static_cast<std::size_t>(i) % kFiles.size()]));
    questions.push_back({.file = &files.back(), .wants = {.code = i % 2 == 0, .table = i % 2 != 0}});
  }
  std::size_t answered = 0;
  std::array<std::size_t, kFiles.size()> rows = {};
  reader.read(questions, [&](std::size_t number, const FileStudy& study) {
    EXPECT_EQ(number, answered++);
    EXPECT_EQ(study.gap, "");
    EXPECT_EQ(study.code.has_value(), number % 2 == 0);
    ASSERT_EQ(study.table.has_value(), number % 2 != 0);
    if (study.code) {
      EXPECT_EQ(study.code->allocator.functions.empty(), number % kFiles.size() != 1) << "libc alone has one";
      return;
    }
    std::size_t& known = rows[number % kFiles.size()];
    if (known == 0) known = study.table->table.rows.size();
    EXPECT_EQ(study.table->table.rows.size(), known);
  });
  EXPECT_EQ(answered, questions.size());
}

TEST(FileReader, WithoutAWorkerSaysWhy) {
  FileReader reader("/nowhere/hawktrace");
  const ElfLayout file = open_layout("/proc/self/exe");
  const FileStudy study = reader.read({.file = &file, .wants = kAll});
  EXPECT_FALSE(study.code || study.table);
  EXPECT_THAT(study.gap, HasSubstr("start a process that reads files"));
}

/// A reader whose worker does what files say.
class MisledReader : public ::testing::Test {
 protected:
  /// What is found out about the second of three files, while the others are fine.
  FileStudy read(const std::string& order) {
    const ElfLayout first = file_that("fine"), second = file_that(order), third = file_that("fine");
    const FileQuestion questions[] = {
        {.file = &first, .wants = kAll}, {.file = &second, .wants = kAll}, {.file = &third, .wants = kAll}};
    FileStudy found;
    std::size_t answered = 0;
    reader_.read(questions, [&](std::size_t number, FileStudy study) {
      EXPECT_EQ(number, answered++);
      if (number == 1) {
        found = std::move(study);
        return;
      }
      EXPECT_EQ(study.gap, "") << order << " cost another file";
      EXPECT_TRUE(study.code && study.table) << order << " cost another file";
    });
    EXPECT_EQ(answered, 3u);
    return found;
  }
  void expect_lost(const std::string& order, const std::string& cause) {
    const FileStudy study = read(order);
    EXPECT_THAT(study.gap, HasSubstr(cause)) << order;
    EXPECT_FALSE(study.table) << order;
  }

  FileReader reader_{HAWK_MISBEHAVING_WORKER, {.processor_seconds = 1, .idle_seconds = 2}};
};

TEST_F(MisledReader, FindsAllOfAGoodFile) {
  const FileStudy study = read("fine");
  EXPECT_EQ(study.gap, "");
  ASSERT_TRUE(study.code && study.table);
  EXPECT_EQ(study.code->allocator.functions.size(), 1u);
  EXPECT_EQ(study.table->table.rows.size(), 2u);
}

TEST_F(MisledReader, CrashCostsOneFile) { expect_lost("crashes", "its reader crashed (Segmentation fault)"); }
TEST_F(MisledReader, ForbiddenCallCostsOneFile) {
  expect_lost("is_stopped", "its reader made a forbidden system call");
}
TEST_F(MisledReader, EndCostsOneFile) { expect_lost("ends", "its reader exited without an answer"); }
TEST_F(MisledReader, WorkWithoutEndCostsOneFile) { expect_lost("works_for_ever", "its reader took too long"); }
TEST_F(MisledReader, WaitingWithoutEndCostsOneFile) { expect_lost("waits_for_ever", "its reader made no progress"); }
TEST_F(MisledReader, AnswersWithoutEndCostOneFile) { expect_lost("code_without_end", "its reader took too long"); }
TEST_F(MisledReader, WhatItCannotReadCostsOneFile) { expect_lost("gives_up", "no memory to read it"); }

TEST_F(MisledReader, AnswersThatCannotBeCostOneFile) {
  for (const char* order :
       {"answers_nonsense", "probes_elsewhere", "unsorted_rows", "unknown_rule", "too_many_rows", "rows_without_end",
        "missing_rows", "something_else", "says_nothing", "speaks_in_colours"}) {
    expect_lost(order, "its reader ");
  }
}

TEST_F(MisledReader, WhatWasFoundOutBeforeIsKept) {
  const FileStudy study = read("crashes_in_table");
  EXPECT_THAT(study.gap, HasSubstr("its reader crashed (Killed)"));
  EXPECT_TRUE(study.code);
  EXPECT_FALSE(study.table);
}

TEST_F(MisledReader, IsNotWaitedForOneHangAfterTheOther) {
  for (int i = 0; i < 3; ++i) {
    const ElfLayout file = file_that("works_for_ever");
    EXPECT_THAT(reader_.read({.file = &file, .wants = kAll}).gap, HasSubstr("its reader took too long"));
  }
  const ElfLayout file = file_that("fine");
  EXPECT_THAT(reader_.read({.file = &file, .wants = kAll}).gap, HasSubstr("reading other files took too long"));
}

TEST_F(MisledReader, EndsAWorkerWhoseAnswersAreNotTaken) {
  const ElfLayout first = file_that("fine"), second = file_that("fine");
  const FileQuestion questions[] = {{.file = &first, .wants = kAll}, {.file = &second, .wants = {.code = true}}};
  EXPECT_THROW(reader_.read(questions, [](std::size_t, const FileStudy&) { throw std::bad_alloc(); }), std::bad_alloc);
  const FileStudy study = reader_.read(questions[1]);
  EXPECT_EQ(study.gap, "");
  EXPECT_TRUE(study.code);
  EXPECT_FALSE(study.table);
}

}  // namespace
}  // namespace hawk

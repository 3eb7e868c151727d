#include "userspace/study/confined_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "userspace/study/file_reader.h"

namespace hawk {
namespace {

using ::testing::HasSubstr;

constexpr ModuleId kFirst{0};
constexpr ModuleId kSecond{1};

/// A symbolizer whose worker does what the module's path says.
class Misbehaving : public ::testing::Test {
 protected:
  void add(ModuleId module, const std::string& path) {
    symbolizer_.add_module(module, {.path = path, .fd = {}, .root = ""});
  }
  std::string function(ModuleId module, std::uint64_t offset) {
    const std::vector<SourceFrame> frames = symbolizer_.frames(module, offset);
    return frames.empty() ? std::string() : frames[0].function;
  }
  /// The first module has no names, with the cause, and the second has its own.
  void expect_lost(const std::string& path, const std::string& cause) {
    add(kFirst, path);
    add(kSecond, "/second");
    EXPECT_EQ(function(kFirst, 0x10), "");
    EXPECT_THAT(symbolizer_.gap(kFirst), HasSubstr(cause));
    EXPECT_EQ(symbolizer_.source(kFirst), SymbolSource::kNone);
    EXPECT_EQ(function(kSecond, 0x20), "of /second");
    EXPECT_EQ(symbolizer_.gap(kSecond), "");
  }

  UniqueFd file_of(const std::string& text) {
    UniqueFd file(::memfd_create("hawktrace-test", MFD_CLOEXEC));
    EXPECT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return file;
  }

  ConfinedSymbolizer symbolizer_{HAWK_MISBEHAVING_WORKER, {.processor_seconds = 1, .idle_seconds = 2, .seconds = 6}};
};

TEST_F(Misbehaving, IsAskedOnceForWhatItAnswers) {
  add(kFirst, "/first");
  const std::uint64_t offsets[] = {1, 2, 3};
  symbolizer_.prepare(kFirst, offsets);
  EXPECT_EQ(function(kFirst, 2), "of /first");
  EXPECT_EQ(symbolizer_.source(kFirst), SymbolSource::kDebugInfo);
  symbolizer_.close_files(kFirst);
  EXPECT_EQ(function(kFirst, 3), "of /first");
  EXPECT_EQ(function(kFirst, 4), "");
  EXPECT_THAT(symbolizer_.gap(kFirst), HasSubstr("deleted and unloaded"));
}

std::string first_function(ConfinedSymbolizer& symbolizer, ModuleId module, std::uint64_t offset) {
  const std::vector<SourceFrame> frames = symbolizer.frames(module, offset);
  return frames.empty() ? std::string() : frames[0].function;
}

TEST(KnownSymbols, OfTheSameContentAreReadOnce) {
  KnownSymbols known;
  {
    ConfinedSymbolizer first(known, HAWK_MISBEHAVING_WORKER);
    first.add_module(kFirst, {.path = "/first", .fd = {}, .root = "", .known_as = "id"});
    EXPECT_EQ(first_function(first, kFirst, 1), "of /first");
    EXPECT_EQ(first.source(kFirst), SymbolSource::kDebugInfo);
  }
  ConfinedSymbolizer second(known, "/nowhere/hawktrace");
  second.add_module(kSecond, {.path = "/second", .fd = {}, .root = "", .known_as = "id"});
  EXPECT_EQ(first_function(second, kSecond, 1), "of /first");
  EXPECT_EQ(second.source(kSecond), SymbolSource::kDebugInfo);
  EXPECT_EQ(second.gap(kSecond), "");
  EXPECT_EQ(first_function(second, kSecond, 2), "");  // it has not been asked for
  EXPECT_THAT(second.gap(kSecond), HasSubstr("its symbols are not read"));
}

TEST(KnownSymbols, OfOtherContentAreNotTaken) {
  KnownSymbols known;
  ConfinedSymbolizer symbolizer(known, HAWK_MISBEHAVING_WORKER);
  symbolizer.add_module(kFirst, {.path = "/first", .fd = {}, .root = "", .known_as = "id"});
  symbolizer.add_module(kSecond, {.path = "/second", .fd = {}, .root = "", .known_as = "another id"});
  symbolizer.add_module(ModuleId{2}, {.path = "/third", .fd = {}, .root = ""});
  symbolizer.add_module(ModuleId{3}, {.path = "/fourth", .fd = {}, .root = ""});
  EXPECT_EQ(first_function(symbolizer, kFirst, 1), "of /first");
  EXPECT_EQ(first_function(symbolizer, kSecond, 1), "of /second");
  EXPECT_EQ(first_function(symbolizer, ModuleId{2}, 1), "of /third");
  EXPECT_EQ(first_function(symbolizer, ModuleId{3}, 1), "of /fourth");
}

TEST(KnownSymbols, OfAFileThatWasLostAreAskedForAgain) {
  KnownSymbols known;
  {
    ConfinedSymbolizer first(known, HAWK_MISBEHAVING_WORKER);
    first.add_module(kFirst, {.path = "/crashes", .fd = {}, .root = "", .known_as = "id"});
    EXPECT_EQ(first_function(first, kFirst, 1), "");
    EXPECT_THAT(first.gap(kFirst), HasSubstr("crashed"));
  }
  ConfinedSymbolizer second(known, HAWK_MISBEHAVING_WORKER);
  second.add_module(kFirst, {.path = "/fine", .fd = {}, .root = "", .known_as = "id"});
  EXPECT_EQ(first_function(second, kFirst, 1), "of /fine");
  EXPECT_EQ(second.gap(kFirst), "");
}

TEST_F(Misbehaving, CrashCostsOneModule) { expect_lost("/crashes", "its reader crashed (Segmentation fault)"); }
TEST_F(Misbehaving, ForbiddenCallCostsOneModule) {
  expect_lost("/is_stopped", "its reader made a forbidden system call");
}
TEST_F(Misbehaving, EndCostsOneModule) { expect_lost("/ends", "its reader exited without an answer"); }
TEST_F(Misbehaving, WorkWithoutEndCostsOneModule) { expect_lost("/works_for_ever", "its reader took too long"); }
TEST_F(Misbehaving, WaitingWithoutEndCostsOneModule) { expect_lost("/waits_for_ever", "its reader made no progress"); }
TEST_F(Misbehaving, NonsenseCostsOneModule) { expect_lost("/answers_nonsense", "its symbols are not read"); }
TEST_F(Misbehaving, OtherMessagesCostOneModule) { expect_lost("/answers_something_else", "its symbols are not read"); }

TEST_F(Misbehaving, MessagesWithoutEndCostOneModule) { expect_lost("/talks_for_ever", "its reader took too long"); }
TEST_F(Misbehaving, MessagesNowAndThenCostOneModule) { expect_lost("/talks_now_and_then", "its reader took too long"); }
TEST_F(Misbehaving, QuestionsWithoutEndCostOneModule) {
  expect_lost("/wants_files_for_ever", "its reader took too long");
}
TEST_F(Misbehaving, AnswersThatWereNotAskedForCostOneModule) {
  expect_lost("/answers_what_was_not_asked", "its symbols are not read");
}
TEST_F(Misbehaving, FramesWithoutEndCostOneModule) { expect_lost("/nests_without_end", "its symbols are not read"); }

/// However long they are, there is memory for the report.
TEST(ConfinedSymbolizer, NamesWithoutEndCostOneModule) {
  ConfinedSymbolizer symbolizer(HAWK_MISBEHAVING_WORKER);
  symbolizer.add_module(kFirst, {.path = "/gives_long_names", .fd = {}, .root = ""});
  symbolizer.add_module(kSecond, {.path = "/second", .fd = {}, .root = ""});
  std::vector<std::uint64_t> offsets(2'500);
  std::iota(offsets.begin(), offsets.end(), 1);
  symbolizer.prepare(kFirst, offsets);
  EXPECT_NE(first_function(symbolizer, kFirst, 1), "");
  EXPECT_EQ(first_function(symbolizer, kFirst, 2'500), "");
  EXPECT_EQ(symbolizer.gap(kFirst), "not all of its symbols are read: its names take more memory than the limit");
  EXPECT_EQ(first_function(symbolizer, kSecond, 0x20), "of /second");
}

TEST_F(Misbehaving, WhatWasAnsweredBeforeIsKept) {
  add(kFirst, "/breaks_off");
  const std::uint64_t offsets[] = {1, 2};
  symbolizer_.prepare(kFirst, offsets);
  EXPECT_EQ(function(kFirst, 1), "known");
  EXPECT_EQ(function(kFirst, 2), "");
  EXPECT_THAT(symbolizer_.gap(kFirst), HasSubstr("not all of its symbols are read: its reader crashed (Killed)"));
}

TEST_F(Misbehaving, IsNotWaitedForOneHangAfterTheOther) {
  for (std::uint32_t module = 0; module < 3; ++module) {
    add(ModuleId(module), "/works_for_ever");
    EXPECT_EQ(function(ModuleId(module), 1), "");
  }
  add(ModuleId(3), "/fine");
  EXPECT_EQ(function(ModuleId(3), 1), "");
  EXPECT_THAT(symbolizer_.gap(ModuleId(3)), HasSubstr("reading other files took too long"));
}

TEST_F(Misbehaving, PerfMapCostsTheNamesInIt) {
  for (const char* order : {"crashes", "works_for_ever", "answers_nonsense"}) {
    symbolizer_.use_perf_map(file_of(order));
    EXPECT_TRUE(symbolizer_.frames_in_no_file(0x10).empty()) << order;
    EXPECT_TRUE(symbolizer_.frames_in_no_file(0x10).empty()) << order;
    add(kFirst, "/first");
    EXPECT_EQ(function(kFirst, 0x10), "of /first") << order;
  }
}

TEST_F(Misbehaving, IsAskedAgainWhenThePerfMapHasGrown) {
  symbolizer_.use_perf_map(file_of("map"));
  const std::uint64_t addresses[] = {0x10, 0x20};
  symbolizer_.prepare_in_no_file(addresses);
  ASSERT_EQ(symbolizer_.frames_in_no_file(0x20).size(), 1u);
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x20)[0].function, "of /map");
  symbolizer_.perf_map_grew();
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x20).size(), 1u);
  symbolizer_.use_perf_map(file_of("another"));
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x20).at(0).function, "of /another");
}

TEST_F(Misbehaving, IsGivenCodeFilesOnly) {
  const ScratchDirectory directory;
  std::ofstream(directory.path("text")) << "root:x:0:0\n";
  std::string core(
      "\x7f"
      "ELF",
      4);
  core.resize(64);
  core[16] = 4;  // ET_CORE
  std::ofstream(directory.path("core")) << core;
  for (const std::string& wanted : {std::string("/etc/passwd"), directory.path("text"), directory.path("core"),
                                    std::string("/dev/null"), std::string("/nowhere")}) {
    add(kFirst, "/wants:" + wanted);
    EXPECT_EQ(function(kFirst, 1), "was not given it") << wanted;
  }
  add(kFirst, "/wants:" HAWK_MISBEHAVING_WORKER);
  EXPECT_EQ(function(kFirst, 1), "was given it");
}

TEST_F(Misbehaving, ReadsWithTheWorkerThatThereIs) {
  add(kFirst, "/first");
  add(kSecond, "/crashes");
  const ModuleId both[] = {kSecond, kFirst};
  symbolizer_.read(both);
  EXPECT_EQ(symbolizer_.gap(kSecond), "");  // there was none to crash
  symbolizer_.start();
  symbolizer_.read(both);
  EXPECT_THAT(symbolizer_.gap(kSecond), HasSubstr("its reader crashed"));
  EXPECT_EQ(function(kFirst, 2), "of /first");
}

/// A worker, as a reader of files gives it away.
std::unique_ptr<WorkerProcess> used_worker() {
  return std::move(*WorkerProcess::start(HAWK_MISBEHAVING_WORKER, {.processor_seconds = 60}));
}

TEST_F(Misbehaving, WorkerOfAReaderIsUsed) {
  FileReader reader(HAWK_MISBEHAVING_WORKER);
  reader.start();
  ConfinedSymbolizer symbolizer("/nowhere/hawktrace");
  symbolizer.start_with(reader.release_worker());
  symbolizer.add_module(kFirst, {.path = "/first", .fd = {}, .root = ""});
  EXPECT_EQ(first_function(symbolizer, kFirst, 1), "of /first");
  EXPECT_EQ(reader.release_worker(), nullptr);
}

TEST_F(Misbehaving, WorkerOfAReaderThatIsNotThereIsNoWorker) {
  symbolizer_.start_with(nullptr);
  add(kFirst, "/first");
  EXPECT_EQ(function(kFirst, 1), "of /first");
}

/// It may have been damaged by what it read before, of which the module is innocent: with a worker of its own the
/// module has its names, and is lost only if that one fails as well.
TEST_F(Misbehaving, WorkerOfAReaderThatDiesCostsNothing) {
  std::unique_ptr<WorkerProcess> worker = used_worker();
  worker->begin_end();
  symbolizer_.start_with(std::move(worker));
  add(kFirst, "/first");
  EXPECT_EQ(function(kFirst, 1), "of /first");
  EXPECT_EQ(symbolizer_.gap(kFirst), "");
  add(kSecond, "/crashes");
  EXPECT_EQ(function(kSecond, 1), "");
  EXPECT_THAT(symbolizer_.gap(kSecond), HasSubstr("its reader crashed (Segmentation fault)"));
}

/// Read ahead, and dead before the names are asked for.
TEST_F(Misbehaving, WorkerOfAReaderThatDiesBetweenTwoQuestionsCostsNothing) {
  symbolizer_.start_with(used_worker());
  add(kFirst, "/first");
  add(kSecond, "/crashes");
  const ModuleId both[] = {kFirst, kSecond};
  symbolizer_.read(both);
  EXPECT_EQ(symbolizer_.gap(kSecond), "");  // not blamed for it yet
  EXPECT_EQ(function(kFirst, 2), "of /first");
  EXPECT_EQ(symbolizer_.gap(kFirst), "");
  EXPECT_EQ(function(kSecond, 2), "");
  EXPECT_THAT(symbolizer_.gap(kSecond), HasSubstr("its reader crashed (Segmentation fault)"));
}

TEST_F(Misbehaving, WorkerOfAReaderThatHangsIsToBlameOnce) {
  symbolizer_.start_with(used_worker());
  add(kFirst, "/works_for_ever");
  EXPECT_EQ(function(kFirst, 1), "");
  EXPECT_THAT(symbolizer_.gap(kFirst), HasSubstr("its reader took too long"));
}

TEST_F(Misbehaving, WorkerOfAReaderThatDiesCostsNoNamesOfThePerfMap) {
  std::unique_ptr<WorkerProcess> worker = used_worker();
  worker->begin_end();
  symbolizer_.start_with(std::move(worker));
  symbolizer_.use_perf_map(file_of("map"));
  ASSERT_EQ(symbolizer_.frames_in_no_file(0x20).size(), 1u);
  EXPECT_EQ(symbolizer_.frames_in_no_file(0x20)[0].function, "of /map");
}

TEST_F(Misbehaving, IsGivenNothingBelowAnotherRoot) {
  add(kFirst, "/wants_elsewhere:/bin/sh");
  EXPECT_EQ(function(kFirst, 1), "");
  EXPECT_THAT(symbolizer_.gap(kFirst), HasSubstr("its symbols are not read"));
}

TEST(ConfinedSymbolizer, WithoutAWorkerThereAreNoNames) {
  ConfinedSymbolizer symbolizer("/nowhere/hawktrace");
  symbolizer.add_module(kFirst, {.path = "/x", .fd = {}, .root = ""});
  EXPECT_TRUE(symbolizer.frames(kFirst, 1).empty());
  EXPECT_THAT(symbolizer.gap(kFirst), HasSubstr("its symbols are not read: start a process that reads files"));
}

}  // namespace
}  // namespace hawk

#include "userspace/process/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

namespace hawk {
namespace {

TEST(ParseMappings, ReadsEveryField) {
  const std::vector<Mapping> mappings =
      parse_mappings("7f1200001000-7f1200003000 r-xp 0000a000 fe:1f 1234567          /usr/lib/libc.so.6\n");
  ASSERT_EQ(mappings.size(), 1u);
  EXPECT_EQ(mappings[0].start, 0x7f1200001000u);
  EXPECT_EQ(mappings[0].end, 0x7f1200003000u);
  EXPECT_EQ(mappings[0].file_offset, 0xa000u);
  EXPECT_EQ(mappings[0].device, std::uint64_t{0xfe} << 32 | 0x1f);
  EXPECT_EQ(mappings[0].inode, 1234567u);
  EXPECT_TRUE(mappings[0].executable);
  EXPECT_FALSE(mappings[0].deleted);
  EXPECT_EQ(mappings[0].path, "/usr/lib/libc.so.6");
}

TEST(ParseMappings, KeepsBlanksInPathsAndTakesDeletedOff) {
  const std::vector<Mapping> mappings = parse_mappings(
      "1000-2000 r-xp 00000000 00:01 7 /opt/my app/x (1).so\n"
      "2000-3000 rw-p 00000000 00:01 8    /opt/my app/x (deleted)\n"
      "3000-4000 r-xp 00000000 00:01 9 /opt/two\\012lines\n");
  ASSERT_EQ(mappings.size(), 3u);
  EXPECT_EQ(mappings[0].path, "/opt/my app/x (1).so");
  EXPECT_FALSE(mappings[0].deleted);
  EXPECT_EQ(mappings[1].path, "/opt/my app/x");
  EXPECT_TRUE(mappings[1].deleted);
  EXPECT_FALSE(mappings[1].executable);
  EXPECT_EQ(mappings[2].path, "/opt/two\nlines");
}

TEST(ParseMappings, KeepsPseudoPathsAndAnonymousMemory) {
  const std::vector<Mapping> mappings = parse_mappings(
      "1000-2000 rw-p 00000000 00:00 0                          [heap]\n"
      "2000-3000 rw-p 00000000 00:00 0 \n"
      "3000-4000 ---p 00000000 00:00 0\n"
      "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0  [vsyscall]");
  ASSERT_EQ(mappings.size(), 4u);
  EXPECT_EQ(mappings[0].path, "[heap]");
  EXPECT_EQ(mappings[1].path, "");
  EXPECT_EQ(mappings[2].path, "");
  EXPECT_EQ(mappings[3].path, "[vsyscall]");
  EXPECT_EQ(mappings[3].start, 0xffffffffff600000u);
}

TEST(ParseMappings, SkipsDamagedLinesOnly) {
  const std::vector<Mapping> mappings = parse_mappings(
      "\n"
      "garbage\n"
      "1000\n"
      "1000-2000\n"
      "1000-2000 rwx\n"
      "2000-1000 r-xp 00000000 00:00 0\n"
      "1000-2000 r-xp zzz 00:00 0\n"
      "1000-2000 r-xp 00000000 0000 0\n"
      "1000-11111111111111111 r-xp 00000000 00:00 0\n"
      "5000-6000 r-xp 00000000 00:00 0 /good\n");
  ASSERT_EQ(mappings.size(), 1u);
  EXPECT_EQ(mappings[0].path, "/good");
  EXPECT_TRUE(parse_mappings("").empty());
}

TEST(ReadMappings, FindsItsOwnCode) {
  const Result<std::vector<Mapping>> mappings = read_mappings(::getpid());
  ASSERT_TRUE(mappings) << mappings.error().what;
  const std::uint64_t here = reinterpret_cast<std::uint64_t>(&parse_mappings);
  bool found = false;
  for (const Mapping& mapping : *mappings) {
    found = found || (mapping.executable && mapping.inode != 0 && here >= mapping.start && here < mapping.end);
  }
  EXPECT_TRUE(found);
}

TEST(ReadMappings, AProcessThatIsGoneIsNoTarget) {
  const Result<std::vector<Mapping>> mappings = read_mappings(0x7ffffff0);
  ASSERT_FALSE(mappings);
  EXPECT_EQ(mappings.error().exit_code, ExitCode::kNoTarget);
}

/// Of a process with a list of some 30 pages, which ends when it is given something to read.
pid_t make_process_of_many_mappings(int its_input) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  constexpr int kRegions = 2000;
  constexpr std::size_t kPageBytes = 4096;
  for (int i = 0; i < kRegions; ++i) {
    ::mmap(nullptr, kPageBytes, i % 2 != 0 ? PROT_READ : PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  char byte = 0;
  while (::read(its_input, &byte, 1) < 0) {
  }
  ::_exit(0);
}

/// Without a look at what is left afterwards, nearly every such process had a list that ended early.
TEST(ReadMappings, OfAProcessThatEndsTheListIsWholeOrThereIsNone) {
  constexpr int kProcesses = 40, kListsBefore = 3;
  for (int i = 0; i < kProcesses; ++i) {
    int input[2];
    ASSERT_EQ(::pipe(input), 0);
    const pid_t pid = make_process_of_many_mappings(input[0]);
    const Result<std::vector<Mapping>> first = read_mappings(pid);
    ASSERT_TRUE(first) << first.error().what;
    Result<std::vector<Mapping>> list = first;
    for (int lists = 0; list; ++lists) {
      ASSERT_EQ(list->back().start, first->back().start) << list->size() << " mappings";
      if (lists == kListsBefore) {
        ASSERT_EQ(::write(input[1], "", 1), 1);
      }
      list = read_mappings(pid);
    }
    EXPECT_EQ(list.error().exit_code, ExitCode::kNoTarget);
    EXPECT_EQ(::waitpid(pid, nullptr, 0), pid);
    ::close(input[0]);
    ::close(input[1]);
  }
}

}  // namespace
}  // namespace hawk

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "tests/support/elf_fixture.h"
#include "userspace/base/process_file.h"
#include "userspace/launch/launch.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

std::string real(const std::string& path) { return std::filesystem::canonical(path).string(); }

bool contains(const std::vector<std::string>& files, const std::string& path) {
  return std::find(files.begin(), files.end(), path) != files.end();
}

std::vector<std::string> files_of(const std::vector<std::string>& argv) {
  Result<std::vector<std::string>> files = files_of_command(argv);
  EXPECT_TRUE(files) << files.error().what;
  return files.value_or(std::vector<std::string>());
}

/// Sets an environment variable for the length of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(FilesOfCommand, AreWhatTheProcessMaps) {
  const testing::TemporaryDirectory directory;
  const std::string output = directory.path() + "/maps";
  Result<LaunchedCommand> command = LaunchedCommand::make({"sh", "-c", "cat /proc/$$/maps > " + output});
  ASSERT_TRUE(command);
  ASSERT_TRUE(command->release());
  ::waitpid(command->disown(), nullptr, 0);
  std::set<std::string> mapped;
  for (const Mapping& mapping : parse_mappings(read_whole_file(output).value_or(""))) {
    if (mapping.executable && mapping.inode != 0) mapped.insert(mapping.path);
  }
  const std::vector<std::string> files = files_of({"sh"});
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()), mapped);
  EXPECT_GE(mapped.size(), 3u);
}

TEST(FilesOfCommand, APreloadedLibraryIsAmongThem) {
  const ScopedVariable preload("LD_PRELOAD", testing::fixture_path("no_operator.so"));
  EXPECT_TRUE(contains(files_of({"true"}), real(testing::fixture_path("no_operator.so"))));
}

TEST(FilesOfCommand, AStaticProgramIsAlone) {
  const std::string program = testing::fixture_path("static_program");
  EXPECT_EQ(files_of({program}), std::vector<std::string>{real(program)});
}

TEST(FilesOfCommand, ScriptsLeadToTheirInterpreters) {
  const testing::TemporaryDirectory directory;
  const std::string script = directory.write("script", "#! /bin/sh -e\nexit 0\n", true);
  EXPECT_EQ(files_of({script}), files_of({"/bin/sh"}));
  const std::string wrapper = directory.write("wrapper", "#!" + script + "\n", true);
  EXPECT_EQ(files_of({wrapper}), files_of({"/bin/sh"}));
  const std::string plain = directory.write("plain", "exit 0\n", true);
  EXPECT_EQ(files_of({plain}), files_of({"/bin/sh"}));
}

TEST(FilesOfCommand, EnvIsFollowedThroughPath) {
  const testing::TemporaryDirectory directory;
  std::filesystem::copy(testing::fixture_path("static_program"), directory.path() + "/my-interpreter");
  const ScopedVariable path("PATH", directory.path());
  for (const char* line : {"#!/usr/bin/env my-interpreter\n", "#!/usr/bin/env -S A=1 my-interpreter -x\n"}) {
    const std::vector<std::string> files = files_of({directory.write("script", line, true)});
    EXPECT_TRUE(contains(files, real("/usr/bin/env"))) << line;
    EXPECT_TRUE(contains(files, real(directory.path() + "/my-interpreter"))) << line;
  }
  const std::string lost = directory.write("lost", "#!/usr/bin/env not-there\n", true);
  EXPECT_EQ(files_of_command({lost}).error().exit_code, ExitCode::kNotFound);
}

TEST(FilesOfCommand, WhatCannotRunHasItsStatus) {
  const testing::TemporaryDirectory directory;
  const std::string loop = directory.path() + "/loop";
  directory.write("loop", "#!" + loop + "\n", true);
  const std::string not_executable = directory.write("data", "text\n");
  for (const std::string& command : {std::string("no-such-command-anywhere"), directory.path(), not_executable, loop,
                                     directory.write("empty", "#!\n", true)}) {
    const Result<std::vector<std::string>> files = files_of_command({command});
    ASSERT_FALSE(files) << command;
    const bool is_there = command.find('/') != std::string::npos;
    EXPECT_EQ(files.error().exit_code, is_there ? ExitCode::kCannotExecute : ExitCode::kNotFound) << files.error().what;
  }
  EXPECT_EQ(files_of_command({}).error().exit_code, ExitCode::kUsage);
}

TEST(FilesOfCommand, A32BitProgramIsRefused) {
  const testing::TemporaryDirectory directory;
  std::vector<std::uint8_t> bytes = testing::bytes_of_file(testing::fixture_path("static_program"));
  bytes[4] = 1;
  const std::string program = directory.write("program", std::string(bytes.begin(), bytes.end()), true);
  const Result<std::vector<std::string>> files = files_of_command({program});
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().exit_code, ExitCode::kPrivilege);
  EXPECT_NE(files.error().what.find("32-bit"), std::string::npos);
}

}  // namespace
}  // namespace hawk

#include "userspace/base/process_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace hawk {
namespace {

/// A file with `content` that disappears with the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content) {
    std::string pattern = testing::TempDir() + "hawk_process_file_XXXXXX";
    const int fd = ::mkstemp(pattern.data());
    EXPECT_GE(fd, 0);
    ::close(fd);
    path_ = pattern;
    std::ofstream(path_, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { ::unlink(path_.c_str()); }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(ReadWholeFile, ReadsAFileOfUnknownSize) {
  const Result<std::string> content = read_whole_file("/proc/self/status");
  ASSERT_TRUE(content);
  EXPECT_NE(content->find("\nTgid:\t" + std::to_string(::getpid()) + "\n"), std::string::npos);
}

TEST(ReadWholeFile, ReadsMoreThanOneBufferAndKeepsZeroBytes) {
  std::string expected(200'001, 'x');
  expected[65'536] = '\0';
  expected[200'000] = '\n';
  const TemporaryFile file(expected);
  const Result<std::string> content = read_whole_file(file.path());
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, expected);
}

TEST(ReadWholeFile, AnEmptyFileIsNotAnError) {
  const TemporaryFile file("");
  const Result<std::string> content = read_whole_file(file.path());
  ASSERT_TRUE(content);
  EXPECT_EQ(*content, "");
}

TEST(ReadWholeFile, AMissingFileCarriesNameReasonAndTheGivenExitCode) {
  const Result<std::string> content = read_whole_file("/proc/self/no_such_entry", ExitCode::kNoTarget);
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().exit_code, ExitCode::kNoTarget);
  EXPECT_EQ(content.error().what, "open /proc/self/no_such_entry: No such file or directory");
}

TEST(ReadWholeFile, ADirectoryFailsWhileReading) {
  const Result<std::string> content = read_whole_file("/proc/self");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().exit_code, ExitCode::kFile);
  EXPECT_EQ(content.error().what, "read /proc/self: Is a directory");
}

}  // namespace
}  // namespace hawk

// Where -o leads to, while another process changes the way there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/file_content.h"
#include "tests/support/scratch_directory.h"
#include "userspace/export/report_output.h"

namespace hawk {
namespace {

namespace fs = std::filesystem;

/// In a directory whose owner lets the path lead to another directory once a file of his has been found there. Owner
/// and mode of that file must never be seen elsewhere.
class ChangingDirectory : public testing::Test {
 protected:
  static constexpr mode_t kMode = 0604;

  ChangingDirectory() {
    fs::create_directory(file("theirs"));
    fs::create_directory(file("roots"));
    fs::create_directory_symlink("roots", file("link"));
    write_file(file("theirs/report"), "old");
    EXPECT_EQ(::chmod(file("theirs/report").c_str(), kMode), 0);
  }
  /// The path to their directory leads to ours now, or back again.
  void change() const {
    EXPECT_EQ(::renameat2(AT_FDCWD, file("theirs").c_str(), AT_FDCWD, file("link").c_str(), RENAME_EXCHANGE), 0);
  }
  fs::path file(const char* name) const { return directory_.path(name); }
  std::size_t files_like_theirs_in_ours() const {
    return static_cast<std::size_t>(std::count_if(
        fs::directory_iterator(file("roots")), fs::directory_iterator(),
        [](const fs::directory_entry& entry) { return entry.status().permissions() == fs::perms(kMode); }));
  }

 private:
  ScratchDirectory directory_;
};

TEST_F(ChangingDirectory, ReportGoesWhereThePathLedAtFirst) {
  Result<ReportOutput> output = ReportOutput::make(file("theirs/report").string());
  ASSERT_TRUE(output);
  change();
  testing::internal::CaptureStderr();
  ASSERT_TRUE(output->write("new"));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("now refers to another file"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(file("roots")));
  EXPECT_EQ(content_of(file("link/report")), "new");
}

TEST_F(ChangingDirectory, OnlyTheFileThatWasCreatedIsRemoved) {
  write_file(file("roots/new"), "of somebody else");
  {
    const Result<ReportOutput> output = ReportOutput::make(file("theirs/new").string());
    ASSERT_TRUE(output);
    change();
  }
  EXPECT_EQ(content_of(file("roots/new")), "of somebody else");
  EXPECT_FALSE(fs::exists(file("link/new")));
}

TEST_F(ChangingDirectory, AtAnyMoment) {
  constexpr int kRounds = 300;
  std::atomic<bool> done = false;
  std::thread owner([&] {
    while (!done) change();
  });
  testing::internal::CaptureStderr();
  for (int i = 0; i < kRounds; ++i) {
    Result<ReportOutput> output = ReportOutput::make(file("theirs/report").string());
    if (output) static_cast<void>(output->write("new"));
  }
  testing::internal::GetCapturedStderr();
  done = true;
  owner.join();
  EXPECT_EQ(files_like_theirs_in_ours(), 0U);
}

/// The end of the path too may become a link at any moment.
TEST_F(ChangingDirectory, ALinkThatIsPutInThePlaceOfTheFileIsReplacedNotFollowed) {
  write_file(file("report"), "old");
  write_file(file("other"), "other");
  Result<ReportOutput> output = ReportOutput::make(file("report").string());
  ASSERT_TRUE(output);
  fs::remove(file("report"));
  fs::create_symlink("other", file("report"));
  testing::internal::CaptureStderr();
  ASSERT_TRUE(output->write("new"));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(content_of(file("other")), "other");
  EXPECT_FALSE(fs::is_symlink(file("report")));
  EXPECT_EQ(content_of(file("report")), "new");
}

}  // namespace
}  // namespace hawk

#include "userspace/base/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <optional>

#include "tests/support/file_content.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

namespace fs = std::filesystem;

/// errno of an attempt to open by either function; 0 when it succeeds. Both must agree.
int error_of(const std::string& path) {
  errno = 0;
  const int error = open_regular_file(path) ? 0 : errno;
  errno = 0;
  const int error_below = open_regular_file_below("", path) ? 0 : errno;
  EXPECT_EQ(error, error_below) << path;
  return error;
}

TEST(RegularFile, IsOpenedForReadingAndClosedByExec) {
  const ScratchDirectory directory;
  write_file(directory.path("file"), "content");
  const UniqueFd fd = open_regular_file(directory.path("file"));
  ASSERT_TRUE(fd);
  char text[8] = {};
  EXPECT_EQ(::read(fd.get(), text, sizeof(text)), 7);
  EXPECT_STREQ(text, "content");
  EXPECT_EQ(::fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(::fcntl(fd.get(), F_GETFL) & O_ACCMODE, O_RDONLY);
}

TEST(RegularFile, NothingElseIsOpened) {
  const ScratchDirectory directory;
  ASSERT_EQ(::mkfifo(directory.path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", directory.path("link_to_pipe"));
  fs::create_symlink("/dev/null", directory.path("link_to_device"));
  fs::create_symlink("circle", directory.path("circle"));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  const std::optional<UnixAddress> address = UnixAddress::of(directory.path("socket"));
  ASSERT_TRUE(address);
  ASSERT_EQ(::bind(socket.get(), address->get(), address->length()), 0);
  for (const char* name : {"pipe", "link_to_pipe", "link_to_device", "socket", ""}) {
    EXPECT_EQ(error_of(directory.path(name)), EINVAL) << name;
  }
  EXPECT_EQ(error_of("/dev/null"), EINVAL);
  EXPECT_EQ(error_of(directory.path("circle")), ELOOP);
  EXPECT_EQ(error_of(directory.path("missing")), ENOENT);
}

TEST(RegularFile, LinksOfProcfsAreFollowedOnlyWhereTheyAreMeant) {
  EXPECT_TRUE(open_regular_file("/proc/self/exe"));
  EXPECT_FALSE(open_regular_file_below("", "/proc/self/exe"));
  EXPECT_EQ(errno, ELOOP);
  EXPECT_FALSE(open_regular_file_below("", "/proc/self/root/proc/self/status"));
}

TEST(RegularFile, BelowARootLinksLeadNowhereElse) {
  const ScratchDirectory directory;
  fs::create_directories(directory.path("root/etc"));
  write_file(directory.path("outside"), "secret");
  write_file(directory.path("root/inside"), "content");
  fs::create_symlink("/inside", directory.path("root/etc/absolute"));
  fs::create_symlink("../../../../inside", directory.path("root/etc/upwards"));
  fs::create_symlink(directory.path("outside"), directory.path("root/out"));
  fs::create_symlink("../outside", directory.path("root/up"));
  const std::string root = directory.path("root");
  for (const char* name : {"/etc/absolute", "/etc/upwards", "/../inside"}) {
    EXPECT_TRUE(open_regular_file_below(root, name)) << name;
  }
  for (const char* name : {"/out", "/up", "/../outside"}) EXPECT_FALSE(open_regular_file_below(root, name)) << name;
  EXPECT_FALSE(open_regular_file_below(directory.path("no_root"), "/inside"));
}

/// Without O_NONBLOCK that takes 45 seconds (/proc/sys/fs/lease-break-time).
TEST(RegularFile, ALeasedFileIsNotWaitedFor) {
  const ScratchDirectory directory;
  write_file(directory.path("leased"), "content");
  const UniqueFd holder(::open(directory.path("leased").c_str(), O_RDWR | O_CLOEXEC));
  const auto previous = std::signal(SIGIO, SIG_IGN);
  ASSERT_EQ(::fcntl(holder.get(), F_SETLEASE, F_WRLCK), 0);
  EXPECT_EQ(error_of(directory.path("leased")), EWOULDBLOCK);
  ::fcntl(holder.get(), F_SETLEASE, F_UNLCK);
  EXPECT_EQ(error_of(directory.path("leased")), 0);
  std::signal(SIGIO, previous);
}

TEST(FileState, TellsFilesAndTheirContentsApart) {
  const ScratchDirectory directory;
  write_file(directory.path("one"), "content");
  write_file(directory.path("two"), "content");
  const std::optional<FileState> before = state_of(directory.path("one"));
  ASSERT_TRUE(before);
  EXPECT_EQ(before->size_bytes, 7u);
  const UniqueFd fd = open_regular_file(directory.path("one"));
  EXPECT_EQ(state_of(fd), before);
  EXPECT_NE(state_of(directory.path("two"))->file, before->file);

  fs::rename(directory.path("one"), directory.path("other_name"));
  EXPECT_EQ(state_of(fd), before);
  fs::last_write_time(directory.path("other_name"), fs::file_time_type::clock::now() + std::chrono::hours(1));
  EXPECT_EQ(state_of(fd)->file, before->file);
  EXPECT_NE(state_of(fd), before);
  EXPECT_FALSE(state_of(directory.path("one")));
  EXPECT_FALSE(state_of(UniqueFd()));
}

}  // namespace
}  // namespace hawk

#include "userspace/study/perf_map_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace hawk {
namespace {

class PerfMapFileTest : public ::testing::Test {
 protected:
  void write(const std::string& text, off_t at = 0) {
    ASSERT_EQ(::pwrite(file_.get(), text.data(), text.size(), at), static_cast<ssize_t>(text.size()));
  }
  std::string function(std::uint64_t address) {
    const std::vector<SourceFrame> frames = map_.frames(address);
    return frames.empty() ? "" : frames[0].function;
  }

  UniqueFd file_{::memfd_create("hawktrace-test", MFD_CLOEXEC)};
  PerfMapFile map_;
};

TEST_F(PerfMapFileTest, IsReadAsItGrows) {
  const std::string first = "1000 10 first\n20";
  write(first);
  map_.read(UniqueFd(::dup(file_.get())));
  EXPECT_EQ(function(0x1008), "first");
  EXPECT_EQ(function(0x2008), "");
  write("00 10 second\n", static_cast<off_t>(first.size()));
  EXPECT_EQ(function(0x2008), "");
  map_.read_on();
  EXPECT_EQ(function(0x2008), "second");
  EXPECT_EQ(function(0x1008), "first");
}

TEST_F(PerfMapFileTest, IsReadAnewWhenItIsShorter) {
  write("1000 10 first\n2000 10 second\n");
  map_.read(UniqueFd(::dup(file_.get())));
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  write("3000 10 third\n");
  map_.read_on();
  EXPECT_EQ(function(0x1008), "");
  EXPECT_EQ(function(0x3008), "third");
}

TEST_F(PerfMapFileTest, IsReplacedByAnother) {
  write("1000 10 first\n");
  map_.read(UniqueFd(::dup(file_.get())));
  map_.read({});
  EXPECT_EQ(function(0x1008), "");
}

}  // namespace
}  // namespace hawk

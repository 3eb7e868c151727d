#include "userspace/code/operator_frames.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/elf_fixture.h"

namespace hawk {
namespace {

/// Values of the fixture's labels, which are no functions.
std::map<std::string, std::uint64_t> labels_of(const std::string& path) {
  std::map<std::string, std::uint64_t> labels;
  const std::string text = testing::output_of("nm " + path);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.size() > 19 && line[0] != ' ') labels[line.substr(19)] = std::stoull(line.substr(0, 16), nullptr, 16);
  }
  return labels;
}

class OperatorFramesTest : public ::testing::Test {
 protected:
  const std::string path = testing::fixture_path("operators.so");
  const ElfImage image = testing::open_image(path);
  std::map<std::string, std::uint64_t> labels = labels_of(path);
};

TEST_F(OperatorFramesTest, RulesOfEachForm) {
  const std::optional<OperatorFrames> frames = find_operator_frames(image);
  ASSERT_TRUE(frames);
  const std::vector<CallSiteRule> expected = {
      {labels.at("after_malloc"), 16, std::nullopt},
      {labels.at("after_aligned_alloc"), 32, 16},
      {labels.at("after_got_call"), 16, std::nullopt},
      {labels.at("after_moved_rbp"), 32, 8},
  };
  ASSERT_EQ(frames->call_sites.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(frames->call_sites[i], expected[i]) << i;
}

TEST_F(OperatorFramesTest, NothingWhereAFramePointerIsSetUpOrRbpIsLost) {
  const std::optional<OperatorFrames> frames = find_operator_frames(image);
  ASSERT_TRUE(frames);
  for (const CallSiteRule& rule : frames->call_sites) {
    EXPECT_NE(rule.return_vaddr, labels.at("after_framed_malloc"));
    EXPECT_NE(rule.return_vaddr, labels.at("after_lost_rbp"));
  }
}

TEST_F(OperatorFramesTest, KnowsTheCodeThatRunsOnceAtLoad) {
  EXPECT_EQ(find_operator_frames(image)->init_vaddr, labels.at("starts_once"));
}

TEST(OperatorFramesOfFile, NoneWithoutOperators) {
  EXPECT_FALSE(find_operator_frames(testing::open_image(testing::fixture_path("no_operator.so"))));
}

}  // namespace
}  // namespace hawk

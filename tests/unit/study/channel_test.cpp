#include "userspace/study/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace hawk {
namespace {

TEST(Channel, CarriesMessagesAndDescriptors) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  int pipe_ends[2] = {};
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const UniqueFd reader(pipe_ends[0]);
  UniqueFd writer(pipe_ends[1]);
  ASSERT_TRUE(ends->first.send(7, "a body", writer.get()));
  ASSERT_TRUE(ends->first.send(8, ""));
  writer.reset();
  const std::optional<Message> first = ends->second.receive();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, 7U);
  EXPECT_EQ(first->body, "a body");
  ASSERT_TRUE(first->fd);
  ASSERT_EQ(::write(first->fd.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  const std::optional<Message> second = ends->second.receive();
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->body.empty());
  EXPECT_FALSE(second->fd);
}

TEST(Channel, CarriesWhatIsLargerThanItsBuffers) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  const std::string body(10 << 20, 'x');
  std::jthread sender([&] { EXPECT_TRUE(ends->first.send(1, body)); });
  const std::optional<Message> message = ends->second.receive();
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, body);
}

TEST(Channel, SaysThatTheOtherEndIsGone) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  ends->second = Channel(UniqueFd());
  EXPECT_FALSE(ends->first.receive());
  EXPECT_FALSE(ends->first.send(1, "body"));
}

TEST(Channel, TakesNoMoreThanAnyEndSends) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  const std::uint32_t header[2] = {1, 0xffffffff};
  ASSERT_EQ(::send(ends->first.fd(), header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  EXPECT_FALSE(ends->second.receive());
}

TEST(Channel, WaitingCanBeEnded) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  int asked = 0;
  EXPECT_FALSE(ends->first.receive([&] { return ++asked < 2; }));
  EXPECT_EQ(asked, 2);
}

}  // namespace
}  // namespace hawk

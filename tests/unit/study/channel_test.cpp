#include "userspace/study/channel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <thread>
#include <vector>

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

TEST(Channel, SendsWhatIsHeldBackInFrontOfTheNextMessage) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  ASSERT_TRUE(ends->first.send_later(1, "first"));
  char byte = 0;
  EXPECT_EQ(::recv(ends->second.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1) << "it was sent at once";
  ASSERT_TRUE(ends->first.send_later(2, ""));
  ASSERT_TRUE(ends->first.send(3, "last"));
  const std::string bodies[] = {"first", "", "last"};
  for (std::uint32_t kind = 1; kind <= 3; ++kind) {
    const std::optional<Message> message = ends->second.receive();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, kind);
    EXPECT_EQ(message->body, bodies[kind - 1]);
  }
}

/// The number of the file that a message brings; 0: it brings none.
ino_t file_of(const std::optional<Message>& message) {
  struct stat status = {};
  return message && message->fd && ::fstat(message->fd.get(), &status) == 0 ? status.st_ino : 0;
}

TEST(Channel, ADescriptorComesWithItsMessageHoweverManyAreReceivedAtOnce) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  const std::string large(100'000, 'x');
  const std::string bodies[] = {"", "small", large, "", large, "small", "", ""};
  const bool has_fd[] = {false, true, true, false, false, true, true, false};
  std::vector<UniqueFd> files;
  std::jthread sender([&] {
    for (std::size_t i = 0; i < std::size(bodies); ++i) {
      files.emplace_back(::memfd_create("a test's file", MFD_CLOEXEC));
      EXPECT_TRUE(ends->first.send_later(100, "held back"));
      EXPECT_TRUE(ends->first.send(static_cast<std::uint32_t>(i), bodies[i], has_fd[i] ? files.back().get() : -1));
    }
  });
  std::vector<ino_t> came;
  for (std::size_t i = 0; i < std::size(bodies); ++i) {
    const std::optional<Message> held_back = ends->second.receive();
    ASSERT_TRUE(held_back && held_back->kind == 100 && held_back->body == "held back") << i;
    EXPECT_EQ(file_of(held_back), 0u) << i;
    const std::optional<Message> message = ends->second.receive();
    ASSERT_TRUE(message && message->kind == i && message->body == bodies[i]) << i;
    came.push_back(file_of(message));
  }
  sender.join();
  for (std::size_t i = 0; i < std::size(bodies); ++i) {
    struct stat status = {};
    ASSERT_EQ(::fstat(files[i].get(), &status), 0);
    EXPECT_EQ(came[i], has_fd[i] ? status.st_ino : 0) << i;
  }
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

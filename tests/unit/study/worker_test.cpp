#include "userspace/study/worker.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "symbolizer/libdw_symbolizer.h"
#include "userspace/base/regular_file.h"
#include "userspace/study/symbol_messages.h"

namespace hawk {
namespace {

/// The first byte of the program, where its own headers are (ld's).
extern "C" const char __executable_start;

constexpr std::uint64_t kOffsets = 256;
constexpr std::uint64_t kStep = 0x40;

/// Where code of this program begins in its file, in which some follows.
std::uint64_t own_code() {
  return reinterpret_cast<std::uintptr_t>(&answer_questions) - reinterpret_cast<std::uintptr_t>(&__executable_start);
}

/// The other end of the channel, as ConfinedSymbolizer has it.
class Client {
 public:
  explicit Client(Channel channel) : channel_(std::move(channel)) {}

  void add(std::uint32_t module, const std::string& path) {
    const UniqueFd file = open_regular_file(path);
    ASSERT_TRUE(channel_.send(kAddModule, to_body(ModuleHead{module, path, "", false}), file.get()));
  }
  /// Every message until the module's state.
  std::vector<FramesAt> ask(std::uint32_t module, const std::vector<std::uint64_t>& offsets) {
    EXPECT_TRUE(channel_.send(kAskForFrames, to_body(module, offsets)));
    std::vector<FramesAt> all;
    while (const std::optional<Message> message = channel_.receive()) {
      if (message->kind == kOpenFile) channel_.send(kOpenedFile, {});
      if (message->kind == kModuleState) {
        EXPECT_TRUE(from_body(message->body, state_));
        return all;
      }
      std::vector<FramesAt> part;
      if (message->kind == kFrames && from_body(message->body, part)) all.insert(all.end(), part.begin(), part.end());
    }
    ADD_FAILURE() << "no answer";
    return all;
  }
  const ModuleState& state() const { return state_; }
  Channel& channel() { return channel_; }

 private:
  Channel channel_;
  ModuleState state_;
};

TEST(SymbolWorker, AnswersAsTheSymbolizerDoes) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  std::jthread worker([end = std::move(ends->second)]() mutable { answer_questions(end); });
  Client client(std::move(ends->first));
  const std::string path = "/proc/self/exe";
  client.add(3, path);
  const std::unique_ptr<LibdwSymbolizer> direct = LibdwSymbolizer::make();
  direct->add_module(ModuleId(3), {.path = path, .fd = open_regular_file(path), .root = ""});
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t i = 0; i < kOffsets; ++i) offsets.push_back(own_code() + i * kStep);
  const std::vector<FramesAt> answers = client.ask(3, offsets);
  ASSERT_EQ(answers.size(), offsets.size());
  std::size_t named = 0;
  for (const FramesAt& at : answers) {
    EXPECT_EQ(at.frames, direct->frames(ModuleId(3), at.module_offset)) << at.module_offset;
    named += at.frames.empty() ? 0 : 1;
  }
  EXPECT_GT(named, 10U);
  EXPECT_EQ(client.state().source, direct->source(ModuleId(3)));
  client.channel() = Channel(UniqueFd());
}

TEST(SymbolWorker, EndsAtAMessageThatMakesNoSense) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  ends->first.send(kAskForFrames, "nonsense");
  answer_questions(ends->second);
  EXPECT_FALSE(ends->first.send(kAskForFrames, "") && ends->first.receive([] { return false; }));
}

TEST(SymbolWorker, KnowsNothingOfAModuleThatItWasNotGiven) {
  auto ends = Channel::make_pair();
  ASSERT_TRUE(ends);
  std::jthread worker([end = std::move(ends->second)]() mutable { answer_questions(end); });
  Client client(std::move(ends->first));
  const std::vector<FramesAt> answers = client.ask(5, {0x1000});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].frames.empty());
  EXPECT_EQ(client.state().source, SymbolSource::kNone);
  client.channel() = Channel(UniqueFd());
}

}  // namespace
}  // namespace hawk

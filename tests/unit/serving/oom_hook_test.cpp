#include "userspace/serving/oom_hook.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unit/serving/loop_thread.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

std::string notify(const std::string& parameters) {
  return R"({"method":"io.systemd.oom.Prekill.Notify","parameters":)" + parameters + "}";
}

TEST(Varlink, AnnouncesAKill) {
  std::vector<std::string> killed;
  const auto note = [&](const std::string& cgroup) { killed.push_back(cgroup); };
  EXPECT_EQ(answer_to_varlink(notify(R"({"cgroup":"/system.slice/a.service"})"), note), R"({"parameters":{}})");
  EXPECT_EQ(
      answer_to_varlink(
          R"({"oneway":true,"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":"/b","more":1}})", note),
      "");
  EXPECT_EQ(killed, (std::vector<std::string>{"/system.slice/a.service", "/b"}));
}

TEST(Varlink, NamesWhatIsWrong) {
  const auto never = [](const std::string&) { FAIL(); };
  const auto error_of = [&](const std::string& message) {
    return nlohmann::json::parse(answer_to_varlink(message, never).value_or("{}")).value("error", "");
  };
  for (const char* parameters : {"{}", "[]", "7", R"({"cgroup":7})", R"({"cgroup":""})", R"({"cgroup":"a"})"}) {
    EXPECT_EQ(error_of(notify(parameters)), "org.varlink.service.InvalidParameter") << parameters;
  }
  EXPECT_EQ(error_of(R"({"method":"io.systemd.oom.Prekill.Other"})"), "org.varlink.service.MethodNotFound");
  EXPECT_EQ(error_of(R"({"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a"}})"),
            "org.varlink.service.InterfaceNotFound");
  for (const std::string& message : {std::string(), std::string("{"), std::string("[]"), std::string(R"({"method":7})"),
                                     std::string(60'000, '['), std::string("{\"method\":\"\xff\"}")}) {
    EXPECT_EQ(answer_to_varlink(message, never), std::nullopt) << message.substr(0, 20);
  }
}

TEST(Varlink, DescribesItself) {
  const auto never = [](const std::string&) { FAIL(); };
  const auto asked = [&](const std::string& message) {
    return nlohmann::json::parse(answer_to_varlink(message, never).value_or("{}")).at("parameters");
  };
  EXPECT_EQ(asked(R"({"method":"org.varlink.service.GetInfo"})").at("interfaces").at(1), "io.systemd.oom.Prekill");
  const std::string text = asked(R"({"method":"org.varlink.service.GetInterfaceDescription",)"
                                 R"("parameters":{"interface":"io.systemd.oom.Prekill"}})")
                               .at("description");
  EXPECT_NE(text.find("method Notify(cgroup: string) -> ()"), std::string::npos);
}

class Client {
 public:
  explicit Client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::optional<UnixAddress> address = UnixAddress::of(path);
    EXPECT_TRUE(address && ::connect(socket_.get(), address->get(), address->length()) == 0);
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  }
  void send(const std::string& text) const { ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL); }
  /// Up to the next zero byte; what has come until the connection is ended.
  std::string receive() const {
    std::string text;
    char byte = 0;
    ssize_t count = 0;
    while ((count = ::recv(socket_.get(), &byte, 1, 0)) == 1 && byte != '\0') text += byte;
    EXPECT_FALSE(count < 0 && errno == EAGAIN) << "no answer";
    return text;
  }

 private:
  UniqueFd socket_;
};

class OomHookTest : public ::testing::Test {
 protected:
  OomHookTest()
      : hook_(OomHook::listen(loop_, path_, [this](const std::string& cgroup) { killed_.push_back(cgroup); })),
        thread_(loop_) {
    EXPECT_TRUE(hook_);
  }
  ~OomHookTest() override { EXPECT_TRUE(thread_.end()); }

  ScratchDirectory directory_;
  std::string path_ = directory_.path("hook");
  EventLoop loop_;
  std::vector<std::string> killed_;  ///< known once the client has been answered
  Result<std::unique_ptr<OomHook>> hook_;
  LoopThread thread_;
};

TEST_F(OomHookTest, TakesMessagesAsTheyCome) {
  const Client client(path_);
  const std::string message = notify(R"({"cgroup":"/a"})");
  client.send(message.substr(0, 10));
  client.send(message.substr(10) + std::string(1, '\0') + message + std::string(1, '\0'));
  EXPECT_EQ(client.receive(), R"({"parameters":{}})");
  EXPECT_EQ(client.receive(), R"({"parameters":{}})");
  EXPECT_EQ(killed_.size(), 2U);
}

TEST_F(OomHookTest, HangsUpOnWhatIsNoMessage) {
  const Client client(path_);
  client.send(std::string("GET / HTTP/1.1\r\n\r\n") + '\0');
  EXPECT_EQ(client.receive(), "");
  const Client endless(path_);
  endless.send(std::string(OomHook::kLongestMessage + 1, ' '));
  EXPECT_EQ(endless.receive(), "");
}

TEST_F(OomHookTest, TheFirstGivesWay) {
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i <= OomHook::kMostClients; ++i) clients.push_back(std::make_unique<Client>(path_));
  EXPECT_EQ(clients.front()->receive(), "");
  clients.back()->send(notify(R"({"cgroup":"/a"})") + std::string(1, '\0'));
  EXPECT_EQ(clients.back()->receive(), R"({"parameters":{}})");
}

}  // namespace
}  // namespace hawk

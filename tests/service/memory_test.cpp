// The daemon, when memory runs short: what it learns of it, and when.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/memory_cgroup.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/service/daemon_process.h"
#include "tests/service/recorded.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/cgroup_membership.h"
#include "userspace/base/process_file.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

TEST(daemon, records_what_the_kernel_kills_for_lack_of_memory) {
  const MemoryCgroup cgroup;
  constexpr std::uint64_t kLimit = std::uint64_t{64} << 20;
  cgroup.limit(kLimit);
  const ScratchDirectory directory;
  const std::string fifo = directory.path("go");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  DaemonProcess daemon("[target.greedy]\ncomm = \"greedy\"\n");
  std::filesystem::create_symlink("/usr/bin/python3", directory.path("greedy"));
  ChildProcess::Setup setup{.argv = cgroup.runner()};
  const std::string script = "import ctypes, sys\nopen('" + fifo +
                             "').read()\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n"
                             "while True:\n  block = libc.malloc(ctypes.c_size_t(1 << 20))\n"
                             "  ctypes.memset(ctypes.c_void_p(block), 1, 1 << 20)\n";
  for (const std::string& word : {directory.path("greedy"), std::string("-c"), script}) setup.argv.push_back(word);
  ChildProcess greedy(setup);
  daemon.wait_for_processes(1, 1);
  std::ofstream(fifo) << "go";
  EXPECT_EQ(greedy.wait(), 128 + SIGKILL);
  EXPECT_GE(cgroup.kills(), 1U);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("(greedy) was killed for lack of memory; "), std::string::npos) << said;
  const auto report = nlohmann::json::parse(report_of(daemon.recording("greedy"), {"--format", "json"}));
  EXPECT_GT(report.at("totals").at("live_bytes").get<std::uint64_t>(), kLimit / 2);
}

/// Nobody but the kernel kills for lack of memory, whatever has been killed in that cgroup before.
TEST(daemon, tells_a_kill_from_one_for_lack_of_memory) {
  const MemoryCgroup cgroup;
  constexpr std::uint64_t kLimit = std::uint64_t{64} << 20;
  cgroup.limit(kLimit);
  DaemonProcess daemon(target_of("web", ledger_path("ends")));
  ChildProcess::Setup setup{.argv = cgroup.runner()};
  for (const std::string& word : {ledger_path("ends"), std::string("wait")}) setup.argv.push_back(word);
  ChildProcess bystander(setup);
  EXPECT_EQ(bystander.read_line(), "ready");
  daemon.wait_for_processes(1, 1);
  ChildProcess::Setup greedy{.argv = cgroup.runner()};
  for (const char* const word : {"/usr/bin/python3", "-c", "x = bytearray(1 << 30)"}) greedy.argv.push_back(word);
  EXPECT_EQ(ChildProcess(greedy).wait(), 128 + SIGKILL);
  EXPECT_GE(cgroup.kills(), 1U);
  bystander.send_signal(SIGKILL);
  EXPECT_EQ(bystander.wait(), 128 + SIGKILL);
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("(ends) was killed by SIGKILL; "), std::string::npos) << said;
}

/// Speaks varlink as systemd-oomd does before it kills a cgroup, and returns what it is answered.
std::string announce_kill(const std::string& socket_path, const std::string& cgroup) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::optional<UnixAddress> address = UnixAddress::of(socket_path);
  if (!address || ::connect(socket.get(), address->get(), address->length()) != 0) {
    throw std::runtime_error("connect to the hook");
  }
  std::string message = R"({"method":"io.systemd.oom.Prekill.Notify","parameters":{"cgroup":")" + cgroup + "\"}}";
  message += '\0';
  if (::send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size())) {
    throw std::runtime_error("send to the hook");
  }
  std::string answer;
  std::array<char, 256> piece;
  while (answer.find('\0') == std::string::npos) {
    const ssize_t count = wait_readable(socket.get()) ? ::recv(socket.get(), piece.data(), piece.size(), 0) : 0;
    if (count <= 0) throw std::runtime_error("the hook does not answer");
    answer.append(piece.data(), static_cast<std::size_t>(count));
  }
  return answer.substr(0, answer.find('\0'));
}

/// Of version 2.
std::string own_cgroup() {
  const Result<std::string> text = read_whole_file("/proc/self/cgroup");
  for (const CgroupMembership& its : parse_cgroups(text.value_or(""))) {
    if (its.hierarchy.empty()) return its.path;
  }
  throw std::runtime_error("there are no cgroups of version 2");
}

TEST(daemon, records_before_systemd_oomd_kills) {
  DaemonProcess daemon(target_of("web", ledger_path("ends"), "record-every = \"1h\""));
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  daemon.wait_for_processes(1, 1);
  const Ledger ledger = program.run();
  EXPECT_EQ(announce_kill(daemon.oom_hook(), "/nothing/is/here"), R"({"parameters":{}})");
  EXPECT_EQ(announce_kill(daemon.oom_hook(), own_cgroup()), R"({"parameters":{}})");
  // It is on the disk by now, and the process lives.
  const auto report = nlohmann::json::parse(report_of(daemon.recording("web"), {"--format", "json"}));
  EXPECT_EQ(report.at("totals").at("allocated_bytes"), ledger.sites.at("by_malloc").allocated_bytes);
  EXPECT_EQ(report.at("totals").at("freed_count"), ledger.sites.at("by_malloc").freed_count);
  program.send_signal(SIGKILL);
  program.wait();
  daemon.wait_for_processes(0, 0);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_NE(said.find("web: systemd-oomd is about to kill 1 of its processes; recorded in "), std::string::npos)
      << said;
  EXPECT_EQ(said.find("systemd-oomd"), said.rfind("systemd-oomd")) << said;
  EXPECT_NE(said.find("(ends) was killed for lack of memory; "), std::string::npos) << said;
  expect_recorded(daemon.recording("web"), program.pid(), ledger);
}

/// What grows in a cgroup with a limit far below that of the machine.
TEST(daemon, traces_a_watched_process_whose_cgroup_has_little_left) {
  const MemoryCgroup cgroup;
  cgroup.limit(std::uint64_t{512} << 20);
  const ScratchDirectory directory;
  std::filesystem::create_symlink("/usr/bin/python3", directory.path("slow-leak"));
  DaemonProcess daemon(
      "[target.leak]\ncomm = \"slow-leak\"\nmode = \"watch\"\nwatch-every = \"100ms\"\n"
      "watch-min-growth = \"8M\"\nwatch-time-to-limit = \"10m\"\n");
  ChildProcess::Setup setup{.argv = cgroup.runner()};
  // Its sleep is the rate at which it leaks.
  const std::string script =
      "import time\nblocks = []\nwhile len(blocks) < 200:\n  blocks.append(bytearray(2 << 20))\n  time.sleep(0.1)\n";
  for (const std::string& word : {directory.path("slow-leak"), std::string("-c"), script}) setup.argv.push_back(word);
  ChildProcess leak(setup);
  daemon.wait_for_processes(0, 1);
  daemon.wait_for_processes(1, 1);
  daemon.finish();
  const std::string said = daemon.process().errors();
  EXPECT_TRUE(std::regex_search(said, std::regex("leak: [0-9.]+ MiB are used, growing by [0-9.]+ [MG]iB a minute: the "
                                                 "limit, [0-9.]+ MiB more, is reached in [^\n]*; it is traced for 5")))
      << said;
}

}  // namespace
}  // namespace hawk

#include "tests/service/daemon_process.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "userspace/base/unix_address.h"
#include "userspace/serving/local_request.h"

namespace hawk {
namespace {

UniqueFd notify_socket(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::optional<UnixAddress> address = UnixAddress::of(path);
  if (!address || ::bind(fd.get(), address->get(), address->length()) != 0) throw std::runtime_error("bind a socket");
  return fd;
}

}  // namespace

std::string target_of(const std::string& name, const std::string& executable, const std::string& lines) {
  return "[target." + name + "]\nexe = \"" + executable + "\"\n" + lines + "\n";
}

DaemonProcess::DaemonProcess(const std::string& targets, const std::string& directory,
                             const std::vector<std::string>& arguments, std::string settings)
    : directory_(directory.empty() ? scratch_.path("heaps") : directory),
      settings_(std::move(settings)),
      manager_(notify_socket(scratch_.path("notify"))),
      process_((write_config(targets), setup(arguments))) {
  wait_for("READY=1");
}

void DaemonProcess::write_config(const std::string& targets) const {
  std::ofstream(scratch_.path("hawktrace.toml"))
      << "[daemon]\ninterval = \"100ms\"\ndirectory = \"" << directory_ << "\"\noomd-hook = \"" << oom_hook() << "\"\n"
      << settings_ << "[serve]\nlisten = [\"unix:" << scratch_.path("socket") << "\"]\n"
      << targets;
}

ChildProcess::Setup DaemonProcess::setup(const std::vector<std::string>& arguments) {
  ChildProcess::Setup setup{.argv = {HAWKTRACE_PATH, "daemon", "--config", scratch_.path("hawktrace.toml")},
                            .environment = {{"NOTIFY_SOCKET", scratch_.path("notify")}}};
  setup.argv.insert(setup.argv.end(), arguments.begin(), arguments.end());
  return setup;
}

void DaemonProcess::wait_for(const std::string& text) {
  std::array<char, 4096> message = {};
  std::string last;
  while (last.find(text) == std::string::npos) {
    if (!wait_readable(manager_.get())) throw std::runtime_error("no " + text + ", but: " + last + process_.errors());
    const ssize_t got = ::recv(manager_.get(), message.data(), message.size(), 0);
    last.assign(message.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  }
}

void DaemonProcess::wait_for_processes(std::size_t traced, std::size_t all) {
  wait_for("tracing " + std::to_string(traced) + " of " + std::to_string(all) + " processes");
}

void DaemonProcess::reload(const std::string& targets) {
  write_config(targets);
  process_.send_signal(SIGHUP);
  wait_for("RELOADING=1");
  wait_for("READY=1");
}

void DaemonProcess::finish() {
  process_.send_signal(SIGTERM);
  EXPECT_EQ(process_.wait(), 0) << process_.errors();
  EXPECT_EQ(process_.errors().find(" () "), std::string::npos) << "a process without a name: " << process_.errors();
}

std::vector<std::string> DaemonProcess::recordings(const std::string& target) const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory_ + "/" + target)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string DaemonProcess::page(const std::string& path) const {
  const Result<std::string> page = get_over_socket(scratch_.path("socket"), path);
  if (!page) throw std::runtime_error(page.error().what + process_.errors());
  return *page;
}

std::uint64_t DaemonProcess::metric(const std::string& name) const {
  std::istringstream lines(page("/metrics"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + " ")) return std::stoull(line.substr(name.size() + 1));
  }
  throw std::runtime_error("no metric " + name);
}

void DaemonProcess::wait_until(const std::string& what, const std::function<bool()>& is_so) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error(what + ": waited in vain");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void DaemonProcess::wait_for_metric(const std::string& name, std::uint64_t least) const {
  wait_until(name + " of " + std::to_string(least), [&] { return metric(name) >= least; });
}

void DaemonProcess::wait_until_traced(pid_t pid, std::uint64_t began_unix_ns) const {
  wait_until("a trace of process " + std::to_string(pid), [&] {
    const auto all = nlohmann::json::parse(page("/targets"));
    for (const auto& target : all.at("targets")) {
      for (const auto& process : target.at("processes")) {
        if (process.at("pid") == pid && process.at("state") == "traced" &&
            process.at("start_unix_ns").get<std::uint64_t>() >= began_unix_ns)
          return true;
      }
    }
    return false;
  });
}

void DaemonProcess::wait_until_all_have_ended() const {
  wait_until("the end of all processes", [&] {
    const auto targets = nlohmann::json::parse(page("/targets")).at("targets");
    return std::all_of(targets.begin(), targets.end(), [](const auto& its) { return its.at("processes").empty(); });
  });
}

void DaemonProcess::wait_until_small(std::uint64_t bytes) const {
  wait_until("less memory than " + std::to_string(bytes), [&] { return anonymous_bytes() < bytes; });
}

std::uint64_t DaemonProcess::anonymous_bytes() const {
  constexpr std::uint64_t kKib = 1024;
  std::ifstream status("/proc/" + std::to_string(process_.pid()) + "/status");
  std::string word;
  std::uint64_t kib = 0;
  while (status >> word && word != "RssAnon:") continue;
  status >> kib;
  return kib * kKib;
}

std::string DaemonProcess::recording(const std::string& target) const {
  const std::vector<std::string> paths = recordings(target);
  if (paths.size() != 1) throw std::runtime_error(std::to_string(paths.size()) + " recordings of " + target);
  return paths.front();
}

std::map<std::string, std::size_t> DaemonProcess::kernel_objects() const {
  std::map<std::string, std::size_t> counts;
  const std::string descriptors = "/proc/" + std::to_string(process_.pid()) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(descriptors)) {
    std::error_code closed;
    const std::string leads_to = std::filesystem::read_symlink(entry.path(), closed);
    if (leads_to.starts_with("anon_inode:")) ++counts[leads_to];
  }
  return counts;
}

std::map<std::string, std::size_t> DaemonProcess::kernel_objects_at_rest() const {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kRest{200};
  const Clock::time_point began = Clock::now();
  Clock::time_point changed = began;
  std::map<std::string, std::size_t> objects = kernel_objects();
  while (Clock::now() - changed < kRest) {
    std::map<std::string, std::size_t> now = kernel_objects();
    if (now == objects) continue;
    objects = std::move(now);
    changed = Clock::now();
    if (changed - began > std::chrono::minutes(1))
      throw std::runtime_error("the daemon's descriptors change all the time");
  }
  return objects;
}

}  // namespace hawk

// Processes that are chosen by what they are: with real cgroups, of the kind that systemd and containers' managers
// make.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/ready_pipe.h"
#include "tests/kernel/harness/trace.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/file_content.h"

namespace hawk {
namespace {

using namespace std::string_literals;
using Words = std::vector<std::string>;

/// A cgroup of version 2, in a mount of our own; it is empty when it is made, and must be empty when it is removed.
class Cgroup {
 public:
  /// `path`: below the root of the hierarchy. Directories on the way are made, and removed with it.
  explicit Cgroup(const std::string& path) : path_(path) {
    if (::mount("none", mount_.path().c_str(), "cgroup2", 0, nullptr) != 0) {
      throw std::runtime_error(std::string("mount a hierarchy of cgroups: ") + std::strerror(errno));
    }
    std::filesystem::create_directories(directory());
  }
  ~Cgroup() {
    for (std::filesystem::path made = directory(); made != mount_.path() && ::rmdir(made.c_str()) == 0;) {
      made = made.parent_path();
    }
    ::umount2(mount_.path().c_str(), MNT_DETACH);
  }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  const std::string& path() const { return path_; }
  std::string directory() const { return mount_.path() + path_; }
  void take(const ChildProcess& process) const {
    std::ofstream procs(directory() + "/cgroup.procs");
    procs << process.pid() << std::flush;
    if (!procs) throw std::runtime_error("move a process into " + directory());
  }

 private:
  ScratchDirectory mount_;
  std::string path_;
};

/// A name that no other run uses.
std::string unique(const std::string& name) { return name + std::to_string(::getpid()); }

/// An id as docker's and containerd's, of this run.
std::string container_id() {
  std::string id = unique("");
  return std::string(64 - id.size(), 'e') + id;
}

/// Traces what `options` choose while the program runs its script: the report must be the ledger.
void expect_traced(LedgerProgram& program, const Words& options) {
  SCOPED_TRACE(options[0] + " " + options[1]);
  const ScratchDirectory directory;
  ReadyPipe ready;
  ChildProcess::Setup setup{.argv = hawktrace_command(Way::kSessionArena, directory.path("report")),
                            .inherited = {ready.write_end()}};
  setup.argv.insert(setup.argv.end(), {"--ready-fd", std::to_string(ready.write_end())});
  setup.argv.insert(setup.argv.end(), options.begin(), options.end());
  ChildProcess hawktrace(setup);
  ASSERT_TRUE(ready.wait()) << hawktrace.errors();
  const Ledger ledger = program.run();
  hawktrace.send_signal(SIGINT);
  ASSERT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  expect_equal(read_report(directory.path("report")), ledger);
  EXPECT_NE(hawktrace.errors().find(" is process " + std::to_string(program.pid()) + " "), std::string::npos)
      << hawktrace.errors();
}

/// The whole of what is said by one that finds none, or cannot choose.
std::string refusal(const Words& options, int status) {
  ChildProcess::Setup setup{.argv = {HAWKTRACE_PATH}};
  setup.argv.insert(setup.argv.end(), options.begin(), options.end());
  ChildProcess hawktrace(setup);
  EXPECT_EQ(hawktrace.read_to_end(), "");
  EXPECT_EQ(hawktrace.wait(), status) << hawktrace.errors();
  return hawktrace.errors();
}

void expect_traced_in(const Cgroup& cgroup, const Words& options) {
  LedgerProgram program({.program = "every_function"});
  cgroup.take(program);
  expect_traced(program, options);
}

TEST(selection, by_cgroup) {
  const Cgroup cgroup(unique("/hawktrace-test-") + "/inner");
  expect_traced_in(cgroup, {"--cgroup", cgroup.path()});
  expect_traced_in(cgroup, {"--cgroup", std::filesystem::path(cgroup.path()).parent_path()});
  expect_traced_in(cgroup, {"--cgroup", cgroup.directory()});
  EXPECT_NE(refusal({"--cgroup", cgroup.directory()}, 3).find(" has no process\nhint: the cgroup exists"),
            std::string::npos);
}

TEST(selection, by_unit) {
  const std::string unit = unique("hawktrace-test@") + ".service";
  const Cgroup cgroup("/hawktrace.slice/" + unit + "/worker");
  expect_traced_in(cgroup, {"--unit", unit});
  expect_traced_in(cgroup, {"--unit", unique("hawktrace-test@")});
  EXPECT_NE(refusal({"--unit", unit}, 3).find("no process is in a cgroup of " + unit), std::string::npos);
}

/// What a systemd of its own runs: in namespaces, with a hierarchy of cgroups below ours, a /tmp in which there is only
/// our directory, and no unit but ours.
class Systemd {
 public:
  /// `program`: what the unit's shell runs when go_on() is called, with the directory for its first argument.
  explicit Systemd(const std::string& program = "true") : cgroup_(unique("/hawktrace-systemd-")) {
    if (::mkfifo(fifo().c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    std::ofstream(directory_.path("start")) << R"(set -e
echo 0 > "$1/cgroup.procs"
exec unshare --pid --mount --cgroup --fork --kill-child=KILL sh -e -c '
mount --make-rprivate /
mount -t proc proc /proc
umount -R /sys/fs/cgroup || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mkdir /run/shared
mount --bind "$0" /run/shared
mount -t tmpfs tmpfs /tmp
mkdir -p "$0"
mount --bind /run/shared "$0"
mount -t tmpfs tmpfs /etc/systemd/system
cp "$0"/*.target "$0"/*.service /etc/systemd/system/
container=hawktrace exec /lib/systemd/systemd --system --unit=hawktrace.target --log-target=null --show-status=no' "$2")";
    std::ofstream(directory_.path("hawktrace.target"))
        << "[Unit]\nDefaultDependencies=no\nWants=hawktrace-test@a-b.service\n";
    std::ofstream(directory_.path("hawktrace-test@.service"))
        << "[Unit]\nDefaultDependencies=no\n[Service]\nExecStart=/bin/sh -c 'cd " << path("")
        << "; echo ready > fifo; read go < fifo; " << program << "; echo done > fifo; read end < fifo'\n";
    systemd_.emplace(
        ChildProcess::Setup{.argv = {"/bin/sh", directory_.path("start"), cgroup_.directory(), directory_.path("")}});
    if (said() != "ready") throw std::runtime_error("systemd does not start its unit:\n" + systemd_->errors());
  }
  ~Systemd() {
    std::ofstream(cgroup_.directory() + "/cgroup.kill") << 1 << std::flush;
    systemd_->wait();
    wait_until_empty();
    remove_below(cgroup_.directory());
  }
  Systemd(const Systemd&) = delete;
  Systemd& operator=(const Systemd&) = delete;

  std::string path(const std::string& name) const { return directory_.path(name); }
  /// Waits until the unit has run its program.
  void go_on() const {
    std::ofstream(fifo()) << "go\n" << std::flush;
    EXPECT_EQ(said(), "done");
  }
  /// The words of a command that runs another beside it.
  Words runner() const {
    std::ifstream procs(cgroup_.directory() + "/init.scope/cgroup.procs");
    std::string pid;
    procs >> pid;
    return {"nsenter", "--target=" + pid, "--pid", "--mount", "--cgroup"};
  }

 private:
  std::string fifo() const { return directory_.path("fifo"); }
  std::string said() const {
    std::string word;
    std::ifstream(fifo()) >> word;
    return word;
  }

  /// The kernel tells of changes of the file.
  void wait_until_empty() const {
    const int events = ::open((cgroup_.directory() + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC);
    char text[256] = {};
    pollfd changed = {.fd = events, .events = POLLPRI, .revents = 0};
    while (::pread(events, text, sizeof(text) - 1, 0) > 0 && std::strstr(text, "populated 0") == nullptr &&
           ::poll(&changed, 1, kPatienceMs) > 0) {
    }
    ::close(events);
  }
  static void remove_below(const std::filesystem::path& cgroup) {
    for (const auto& below : std::filesystem::directory_iterator(cgroup)) {
      if (!below.is_directory()) continue;
      remove_below(below.path());
      ::rmdir(below.path().c_str());
    }
  }

  ScratchDirectory directory_;
  Cgroup cgroup_;
  std::optional<ChildProcess> systemd_;
};

TEST(selection, by_unit_of_a_real_systemd) {
  const Systemd systemd;
  const auto said = [&systemd](const std::string& unit, int status) {
    ChildProcess::Setup setup{.argv = systemd.runner()};
    for (const std::string& word : {std::string(HAWKTRACE_PATH), "--duration"s, "0.1"s, "--unit"s, unit}) {
      setup.argv.push_back(word);
    }
    ChildProcess hawktrace(setup);
    hawktrace.read_to_end();
    EXPECT_EQ(hawktrace.wait(), status) << hawktrace.errors();
    return hawktrace.errors();
  };
  const std::string found = said("hawktrace-test@a-b", 0);
  EXPECT_NE(found.find("is the cgroup /system.slice/system-hawktrace\\x2dtest.slice/hawktrace-test@a-b.service"),
            std::string::npos)
      << found;
  EXPECT_NE(found.find(" (sh)"), std::string::npos) << found;
  EXPECT_NE(said("hawktrace-test@", 2).find("--unit hawktrace-test@a-b.service"), std::string::npos);
  EXPECT_NE(said("hawktrace-none", 3).find("systemctl status hawktrace-none.service"), std::string::npos);
}

/// By a hawktrace in the namespaces of the unit. The shell is met in the middle of its life, what it starts from its
/// first instruction on.
TEST(selection, processes_that_a_unit_of_a_real_systemd_starts) {
  const Systemd systemd(ledger_path("family") + " prefork ledger 6");
  ReadyPipe ready;
  ChildProcess::Setup setup{.argv = systemd.runner(), .inherited = {ready.write_end()}};
  for (const std::string& word :
       {std::string(HAWKTRACE_PATH), "--unit"s, "hawktrace-test@a-b"s, "--follow"s, "--hold"s, "--format"s, "json"s,
        "--top"s, "0"s, "--verify"s, "-o"s, systemd.path("report"), "--ready-fd"s, std::to_string(ready.write_end())}) {
    setup.argv.push_back(word);
  }
  ChildProcess hawktrace(setup);
  ASSERT_TRUE(ready.wait()) << hawktrace.errors();
  systemd.go_on();
  for (const pid_t inside : children_of(hawktrace.pid())) ::kill(inside, SIGINT);
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  const nlohmann::json report = nlohmann::json::parse(content_of(systemd.path("report")));
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  Family traced = family_in(report);
  const Family said = read_family(systemd.path("ledger"));
  std::erase_if(traced, [&](const auto& process) { return !said.contains(process.first); });
  expect_same(said, traced, 7);
}

TEST(selection, by_container) {
  const std::string id = container_id();
  for (const std::string& path :
       {"/system.slice/docker-" + id + ".scope", "/hawktrace.slice/cri-containerd-" + id + ".scope", "/docker/" + id,
        "/hawktrace.slice/libpod-" + id + ".scope/container"}) {
    const Cgroup cgroup(path);
    expect_traced_in(cgroup, {"--container", id});
  }
  const Cgroup cgroup("/lxc/" + unique("box"));
  expect_traced_in(cgroup, {"--container", unique("box")});
  EXPECT_NE(refusal({"--container", id}, 3).find("no process is in a container " + id), std::string::npos);
}

TEST(selection, by_name_and_executable) {
  const ScratchDirectory directory;
  const std::string copy = directory.path("hawktrace-ledger-with-a-long-name");
  std::filesystem::copy_file(ledger_path("every_function"), copy);
  const std::string name = std::filesystem::path(copy).filename();
  for (const Words& options : {Words{"--name", name},
                               {"--exe", directory.path("*")},
                               {"--name", name.substr(0, 15)},
                               {"--comm", name.substr(0, 15)}}) {
    LedgerProgram program({.program = copy});
    expect_traced(program, options);
  }
  const std::string errors = refusal({"--comm", name}, 3);
  EXPECT_NE(errors.find("hint: the kernel keeps 15 bytes of a name: --comm '" + name.substr(0, 15)), std::string::npos)
      << errors;
}

/// A process that ends between pidof and us is no error as long as another is left.
TEST(selection, numbers_of_processes_that_have_ended) {
  LedgerProgram program({.program = "ends", .arguments = {"wait"}});
  ChildProcess ended({.argv = {"/bin/true"}});
  ASSERT_EQ(ended.wait(), 0);
  ChildProcess zombie({.argv = {"/bin/true"}});
  siginfo_t how{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie.pid()), &how, WEXITED | WNOWAIT), 0);
  const std::string gone = std::to_string(ended.pid()) + " " + std::to_string(zombie.pid());
  ChildProcess hawktrace(
      {.argv = {HAWKTRACE_PATH, "-p", gone, "-p", std::to_string(program.pid()), "--duration", "0.1"}});
  EXPECT_NE(hawktrace.read_to_end().find("pid " + std::to_string(program.pid())), std::string::npos);
  EXPECT_EQ(hawktrace.wait(), 0);
  EXPECT_NE(hawktrace.errors().find("it is left out"), std::string::npos) << hawktrace.errors();
  refusal({"-p", gone}, 3);
}

}  // namespace
}  // namespace hawk

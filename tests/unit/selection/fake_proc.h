#pragma once

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/scratch_directory.h"
#include "userspace/selection/proc_root.h"

namespace hawk {

/// A directory that looks like /proc as far as processes are chosen by it.
class FakeProc {
 public:
  struct Process {
    int pid;
    std::string comm;
    std::string executable = "";     ///< empty: it has no link
    std::string cgroups = "0::/\n";  ///< lines
    int parent = 1;
    char state = 'S';
    unsigned flags = 0x400000;
    int threads = 1;
    unsigned long start_ticks = 100;
  };

  void add(const Process& process) const {
    const std::filesystem::path directory = scratch_.path(std::to_string(process.pid));
    std::filesystem::create_directories(directory);
    write(directory / "stat",
          fmt::format("{} ({}) {} {} 1 1 0 -1 {} 0 0 0 0 0 0 0 0 20 0 {} 0 {} 1000 100 0\n", process.pid, process.comm,
                      process.state, process.parent, process.flags, process.threads, process.start_ticks));
    write(directory / "comm", process.comm + "\n");
    write(directory / "cgroup", process.cgroups);
    if (!process.executable.empty()) std::filesystem::create_symlink(process.executable, directory / "exe");
  }
  void remove(int pid) const { std::filesystem::remove_all(scratch_.path(std::to_string(pid))); }
  void set_mountinfo(const std::string& text) const {
    std::filesystem::create_directories(scratch_.path("self"));
    write(scratch_.path("self/mountinfo"), text);
  }
  std::string path(const std::string& name) const { return scratch_.path(name); }
  static void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path) << text; }

  ProcRoot root() const { return ProcRoot::open(scratch_.path()).value(); }

 private:
  ScratchDirectory scratch_;
};

}  // namespace hawk

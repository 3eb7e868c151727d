#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/support/scratch_directory.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A `hawktrace daemon` at work. The test is its service manager, and learns from it what it does.
class DaemonProcess {
 public:
  /// Returns when it is ready. `targets`: tables of the configuration; [daemon] has an interval of 100 ms. `directory`:
  /// for recordings; empty: one of its own. `arguments`: further words of its command line. `settings`: further lines
  /// of [daemon].
  explicit DaemonProcess(const std::string& targets, const std::string& directory = {},
                         const std::vector<std::string>& arguments = {}, std::string settings = {});
  DaemonProcess(const DaemonProcess&) = delete;
  DaemonProcess& operator=(const DaemonProcess&) = delete;

  ChildProcess& process() { return process_; }
  /// Waits for a message to the service manager that contains the text.
  void wait_for(const std::string& text);
  /// Waits until it traces so many of so many processes.
  void wait_for_processes(std::size_t traced, std::size_t all);
  /// Replaces the targets of the configuration, and waits until it has been read again.
  void reload(const std::string& targets);
  /// Ends it, and expects that it ends well.
  void finish();

  /// Paths of a target's recordings, the oldest first.
  std::vector<std::string> recordings(const std::string& target) const;
  /// The only one.
  std::string recording(const std::string& target) const;
  /// The number that its metrics have under this name, with labels if it has any.
  std::uint64_t metric(const std::string& name) const;
  /// Waits until it is this number, or a larger one, of which the test is to say that it is wrong.
  void wait_for_metric(const std::string& name, std::uint64_t least) const;
  /// Waits until it traces this process, and not another one that had the number before this time.
  void wait_until_traced(pid_t pid, std::uint64_t began_unix_ns) const;
  /// Waits until it has dealt with the end of every process.
  void wait_until_all_have_ended() const;
  /// Waits until its own memory is smaller than that: what malloc keeps it gives back now and then.
  void wait_until_small(std::uint64_t bytes) const;
  /// Its own memory.
  std::uint64_t anonymous_bytes() const;
  /// The socket at which it is told whom systemd-oomd is about to kill.
  std::string oom_hook() const { return scratch_.path("hook"); }
  /// What its descriptors lead to, and how many lead there: "anon_inode:bpf-prog". Files on disks, and connections, are
  /// left out.
  std::map<std::string, std::size_t> kernel_objects() const;
  /// The same, once it has not changed for 200 ms: a thread of the daemon closes the links of a process that has ended,
  /// one after the other within some 30 ms, and says nothing of it. Throws after a minute.
  std::map<std::string, std::size_t> kernel_objects_at_rest() const;

 private:
  ChildProcess::Setup setup(const std::vector<std::string>& arguments);
  void write_config(const std::string& targets) const;
  /// What it answers to a request over HTTP.
  std::string page(const std::string& path) const;
  /// For what it does not announce.
  void wait_until(const std::string& what, const std::function<bool()>& is_so) const;

  ScratchDirectory scratch_;
  std::string directory_;
  std::string settings_;
  UniqueFd manager_;
  ChildProcess process_;
};

/// "[target.NAME]" with those processes that run the file, and further lines.
std::string target_of(const std::string& name, const std::string& executable, const std::string& lines = {});

}  // namespace hawk

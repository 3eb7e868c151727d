// Targets in containers as engines make them: namespaces of their own, and a root directory on an overlay file system.
#include <signal.h>

#include <filesystem>
#include <map>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorded_trace.h"

namespace hawk {
namespace {

/// Where the layers of an overlay are, and how it is mounted (Documentation/filesystems/overlayfs.rst).
struct Layers {
  bool upper_elsewhere = false;  ///< the upper layer is a tmpfs
  std::string options = {};      ///< more of them, after a comma
  bool copied_up = false;        ///< all files are in the upper layer
};

/// A root directory in the making, with a program and what it needs.
class Container {
 public:
  explicit Container(const std::string& program) : program_(ledger_path(program)) {
    for (const char* name : {"lower/program", "lower/proc", "lower/tmp", "layers", "root"}) {
      std::filesystem::create_directories(directory_.path(name));
    }
  }

  /// Puts a file into its directory /program.
  void add(const std::string& file) const {
    const std::filesystem::path path = ledger_path(file);
    std::filesystem::copy_file(path, directory_.path("lower/program/" + path.filename().string()));
  }

  /// Runs the program in it: process 1 of its own PID namespace, with the other namespaces that are given to `unshare`.
  LedgerProgram start(const Layers& layers, const std::vector<std::string>& arguments = {},
                      const std::vector<std::string>& unshared = {}) const {
    std::string script =
        "set -e; cd " + directory_.path("") +
        "; rm -rf layers/*; for file in $(ldd $0 | grep -o '/[^ ]*') ; do install -D $file lower/$file; done"
        "; install $0 lower/program/run";
    if (layers.upper_elsewhere) script += "; mount -t tmpfs none layers";
    script += "; mkdir layers/upper layers/work";
    if (layers.copied_up) script += "; cp -a lower/. layers/upper";
    script += "; mount -t overlay overlay root -o lowerdir=lower,upperdir=layers/upper,workdir=layers/work" +
              layers.options + "; mount -t proc proc root/proc; exec chroot root /program/run \"$@\"";
    std::vector<std::string> words = {"--mount", "--pid", "--fork", "--kill-child"};
    words.insert(words.end(), unshared.begin(), unshared.end());
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script, program_}) words.push_back(word);
    words.insert(words.end(), arguments.begin(), arguments.end());
    keep_names_in_recordings();
    return LedgerProgram({.program = "/usr/bin/unshare", .arguments = words});
  }

 private:
  ScratchDirectory directory_;
  std::string program_;
};

/// The process that `outer` has started in a pid namespace of its own.
pid_t process_inside(const LedgerProgram& outer) {
  const std::vector<pid_t> inside = children_of(outer.pid());
  if (inside.size() != 1) throw std::runtime_error("the container has no process");
  return inside.front();
}

void expect_traced_inside(LedgerProgram& outer, Way way) {
  Trace trace = Trace::attach(process_inside(outer), way);
  const Ledger ledger = outer.run();
  const Report report = trace.finish();
  expect_equal(report, ledger);
  EXPECT_EQ(report.comm, "run");
  EXPECT_TRUE(report.exe.ends_with("/program/run")) << report.exe;
  outer.close_input();
  EXPECT_EQ(outer.wait(), 0);
}

void expect_traced_on_overlay(const Layers& layers, Way way) {
  const Container container("operators");
  LedgerProgram program = container.start(layers);
  expect_traced_inside(program, way);
}

KERNEL_TEST(overlay, one_file_system) { expect_traced_on_overlay({}, way); }

KERNEL_TEST(overlay, upper_layer) { expect_traced_on_overlay({.copied_up = true}, way); }

KERNEL_TEST(overlay, two_file_systems) {
  expect_traced_on_overlay({.upper_elsewhere = true, .options = ",xino=off"}, way);
}

KERNEL_TEST(overlay, two_file_systems_numbered_together) {
  expect_traced_on_overlay({.upper_elsewhere = true, .options = ",xino=on,metacopy=on"}, way);
}

/// The library is opened for writing during the trace: the next mapping is of another file with the same
/// number.
KERNEL_TEST(overlay, library_copied_up_while_traced) {
  const Container container("copied_up_library");
  container.add("libmapped_library.so");
  LedgerProgram program = container.start({}, {"/program/libmapped_library.so"});
  Trace trace = Trace::attach(process_inside(program), way);
  const Ledger ledger = program.run();
  const Report report = trace.finish();
  expect_sound(report);
  EXPECT_TRUE(report.exact);
  std::map<std::string, Numbers> sums;
  for (const ReportStack& stack : report.stacks) {
    sums[stack.direct_caller()] += stack.numbers;
    if (!ledger.sites.contains(stack.direct_caller())) continue;
    EXPECT_NE(stack.text().find("through_library"), std::string::npos) << stack.text();
  }
  for (const auto& [site, numbers] : ledger.sites) EXPECT_EQ(sums[site], numbers) << site;
}

/// The same of libc itself: its copy has no probes, and that is counted.
void expect_unprobed_copy_counted(const std::vector<std::string>& arguments, Way way) {
  const Container container("copied_up_libc");
  LedgerProgram program = container.start({}, arguments);
  Trace trace = Trace::attach(process_inside(program), way);
  program.run();
  const Report report = trace.finish();
  EXPECT_FALSE(report.exact);
  EXPECT_GT(report.losses.at("missing_breakpoints"), 0u);
  EXPECT_NE(trace.process().errors().find("malloc in "), std::string::npos) << trace.process().errors();
}

KERNEL_TEST(overlay, libc_copied_up_while_traced) { expect_unprobed_copy_counted({}, way); }

/// The process ends before user space has heard of the copy.
KERNEL_TEST(overlay, libc_copied_up_before_the_end) { expect_unprobed_copy_counted({"ends"}, way); }

KERNEL_TEST(namespaces, root_of_a_user_namespace) {
  const Container container("operators");
  LedgerProgram program = container.start({.options = ",userxattr"}, {}, {"--user", "--map-root-user"});
  expect_traced_inside(program, way);
}

/// hawktrace in the pid namespace of the target, whose numbers it is given.
KERNEL_TEST(namespaces, traced_from_inside) {
  const ScratchDirectory directory;
  LedgerProgram program({.program = "/usr/bin/unshare",
                         .arguments = {"--pid", "--fork", "--kill-child", "--mount-proc", ledger_path("operators")}});
  const std::string inside = std::to_string(process_inside(program));
  Trace trace = Trace::attach(1, way, {}, {"/usr/bin/nsenter", "--target", inside, "--pid", "--mount"});
  const Ledger ledger = program.run();
  const std::vector<pid_t> tracer = children_of(trace.process().pid());
  ASSERT_EQ(tracer.size(), 1u);
  kill(tracer.front(), SIGINT);
  const Report report = trace.wait_for_report();
  expect_equal(report, ledger);
  EXPECT_EQ(report.comm, "operators");
}

}  // namespace
}  // namespace hawk

// Targets in containers as engines make them: namespaces of their own, and a root directory on an overlay file system.
#include <fcntl.h>
#include <sys/stat.h>

#include <filesystem>
#include <stdexcept>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"

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

  /// Runs the program in it: process 1 of its own pid namespace, root of a user namespace.
  LedgerProgram start(const Layers& layers, const std::vector<std::string>& arguments = {}) const {
    std::string script = "set -e; cd " + directory_.path("") +
                         "; for file in $(ldd $0 | grep -o '/[^ ]*') ; do install -D $file lower/$file; done"
                         "; install $0 lower/program/run";
    if (layers.upper_elsewhere) script += "; mount -t tmpfs none layers";
    script += "; mkdir layers/upper layers/work";
    if (layers.copied_up) script += "; cp -a lower/. layers/upper";
    script += "; mount -t overlay overlay root -o lowerdir=lower,upperdir=layers/upper,workdir=layers/work" +
              layers.options + "; mount -t proc proc root/proc; exec chroot root /program/run \"$@\"";
    std::vector<std::string> words = {"--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-c", script, program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return LedgerProgram({.program = "/usr/bin/unshare", .arguments = words});
  }

 private:
  ScratchDirectory directory_;
  std::string program_;
};

/// Traces what `outer` has started in a pid namespace of its own.
void expect_traced_inside(LedgerProgram& outer, Way way) {
  const std::vector<pid_t> inside = children_of(outer.pid());
  ASSERT_EQ(inside.size(), 1u);
  Trace trace = Trace::attach(inside.front(), way);
  const Ledger ledger = outer.run();
  expect_equal(trace.finish(), ledger);
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

/// The numbers of inodes that stat tells are not those of the mappings.
KERNEL_TEST(overlay, two_file_systems) {
  expect_traced_on_overlay({.upper_elsewhere = true, .options = ",xino=off"}, way);
}

KERNEL_TEST(overlay, two_file_systems_numbered_together) {
  expect_traced_on_overlay({.upper_elsewhere = true, .options = ",xino=on,metacopy=on"}, way);
}

}  // namespace
}  // namespace hawk

// Followed processes become so many that their probes are placed in every process that maps the file.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/support/file_content.h"
#include "tests/support/scratch_directory.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

constexpr Way kFollowWays[] = {Way::kPointsArena, Way::kPerfHash};

constexpr std::size_t kChildren = 60;

/// A process of the same libc that is not traced.
class Stranger {
 public:
  explicit Stranger(const ScratchDirectory& directory)
      : library_(directory.path("libc.so.6")),
        process_({.argv = {ledger_path("family"), "told", directory.path("unused"), "1", ""},
                  .environment = {{"LD_LIBRARY_PATH", directory.path("")}}}) {
    if (process_.read_line() != "ready") throw std::runtime_error("the stranger did not begin");
  }

  /// The bytes of the libc's code that differ from the file.
  std::size_t changed_bytes() const {
    std::size_t changed = 0;
    const Result<std::vector<Mapping>> mappings = read_mappings(process_.pid());
    for (const Mapping& mapping : mappings.value()) {
      if (!mapping.executable || mapping.path != library_) continue;
      const std::size_t bytes = mapping.end - mapping.start;
      const std::string own = bytes_at("/proc/" + std::to_string(process_.pid()) + "/mem", mapping.start, bytes);
      const std::string of_file = bytes_at(library_, mapping.file_offset, bytes);
      for (std::size_t i = 0; i < own.size(); ++i) changed += own.at(i) != of_file.at(i) ? 1 : 0;
    }
    return changed;
  }

 private:
  static std::string bytes_at(const std::string& path, std::uint64_t offset, std::size_t count) {
    std::string bytes(count, 0);
    std::ifstream file(path, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(bytes.data(), static_cast<std::streamsize>(count));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
  }

  std::string library_;
  ChildProcess process_;
};

void wait_until(const std::string& what, const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("does not come: " + what);
    ::poll(nullptr, 0, 1);
  }
}

std::vector<std::string> pool_words(Way way, const ScratchDirectory& directory, const std::string& links) {
  std::vector<std::string> words = command_words(
      way, directory, {ledger_path("unruly_family"), "pool", directory.path("ledger"), std::to_string(kChildren)},
      {"--verbose", "--interval", "100ms"});
  std::erase(words, "-q");
  if (!links.empty()) words.insert(words.begin() + 1, {"--links", links});
  return words;
}

nlohmann::json finish(ChildProcess& hawktrace, const ScratchDirectory& directory) {
  EXPECT_EQ(hawktrace.read_to_end(), "");
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  return nlohmann::json::parse(content_of(directory.path("report")));
}

/// All of them call without a pause meanwhile: no call is missed by the change, and none counted twice.
KERNEL_TEST_ON(link_changes, lose_and_double_nothing, kFollowWays) {
  const ScratchDirectory directory;
  const std::map<std::string, std::string> environment = with_own_libc(directory);
  const Stranger stranger(directory);
  ChildProcess hawktrace({.argv = pool_words(way, directory, ""), .environment = environment});
  // Beside other tests that may be chosen before all of them are there, and then stays so.
  const std::string line = "one link per file: ";
  wait_until(line, [&] { return hawktrace.errors().find(line) != std::string::npos; });
  wait_until("a probe in other processes", [&] { return stranger.changed_bytes() > 0; });
  hawktrace.send_byte();
  const nlohmann::json report = finish(hawktrace, directory);
  EXPECT_EQ(stranger.changed_bytes(), 0U);
  EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
  EXPECT_TRUE(report.at("trace").at("attach_via").get<std::string>().ends_with(" for files"));
  expect_same(read_family(directory.path("ledger")), family_in(report), kChildren + 1);
}

/// Unless the user has decided.
KERNEL_TEST_ON(link_changes, are_not_made_if_links_are_chosen, kFollowWays) {
  const ScratchDirectory directory;
  const std::map<std::string, std::string> environment = with_own_libc(directory);
  const Stranger stranger(directory);
  ChildProcess hawktrace({.argv = pool_words(way, directory, "process"), .environment = environment});
  hawktrace.send_byte();
  const nlohmann::json report = finish(hawktrace, directory);
  EXPECT_EQ(stranger.changed_bytes(), 0U);
  EXPECT_EQ(hawktrace.errors().find("one link per"), std::string::npos);
  EXPECT_EQ(report.at("trace").at("attach_via"), attach_via(way));
  expect_same(read_family(directory.path("ledger")), family_in(report), kChildren + 1);
}

}  // namespace
}  // namespace hawk

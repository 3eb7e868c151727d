// What users read of a trace beside its numbers: names of code in no file, folded functions, the process's memory,
// hints.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernel/harness/ledger.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using nlohmann::json;

constexpr uid_t kNobody = 65534;

/// The perf map of a process, for as long as this lives. It names all code that lies in no file.
class MapOf {
 public:
  MapOf(pid_t pid, const std::string& name, uid_t owner) : path_("/tmp/perf-" + std::to_string(pid) + ".map") {
    std::ofstream(path_) << "1000 7ffffffff000 " << name << '\n';
    EXPECT_EQ(::chown(path_.c_str(), owner, owner), 0);
  }
  MapOf(const MapOf&) = delete;
  MapOf& operator=(const MapOf&) = delete;
  ~MapOf() { ::unlink(path_.c_str()); }

 private:
  std::string path_;
};

/// The last JSON report of a trace of `program`, which runs its script meanwhile, as it was written.
std::string report_text_of(LedgerProgram& program, const std::vector<std::string>& options = {}) {
  std::vector<std::string> words = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--format", "json"};
  words.insert(words.end(), {"--report-every", "100ms"});
  words.insert(words.end(), options.begin(), options.end());
  ChildProcess hawktrace({.argv = words});
  hawktrace.read_line();  // the probes are in place
  program.run();
  hawktrace.send_signal(SIGINT);
  std::string last;
  while (std::optional<std::string> line = hawktrace.next_line()) last = std::move(*line);
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  return last;
}

json report_of(LedgerProgram& program, const std::vector<std::string>& options = {}) {
  return json::parse(report_text_of(program, options));
}

std::set<std::string> functions_in_no_file(const json& report) {
  std::set<std::string> functions;
  for (const json& stack : report.at("stacks")) {
    for (const json& frame : stack.at("frames")) {
      if (!frame.at("module").is_null()) continue;
      functions.insert(frame.at("function").is_null() ? "" : frame.at("function").get<std::string>());
    }
  }
  return functions;
}

/// Whether the report says that code in no file has no name.
bool tells_of_nameless_code(const json& report) {
  const json& gaps = report.at("symbol_gaps");
  return std::any_of(gaps.begin(), gaps.end(), [](const json& gap) { return gap.at("module").is_null(); });
}

using Names = std::set<std::string>;

TEST(names, generated_code_is_named_from_the_perf_map) {
  LedgerProgram program({.program = "jit_region"});
  const MapOf map(program.pid(), "made::of_words", ::geteuid());
  const json report = report_of(program);
  EXPECT_EQ(functions_in_no_file(report), Names{"made::of_words"});
  EXPECT_FALSE(tells_of_nameless_code(report));
  for (const json& stack : report.at("stacks")) EXPECT_EQ(stack.at("label"), "made::of_words");
}

TEST(names, generated_code_without_a_perf_map_has_none_and_the_report_says_why) {
  LedgerProgram program({.program = "jit_region"});
  const json report = report_of(program);
  EXPECT_EQ(functions_in_no_file(report), Names{""});
  EXPECT_TRUE(tells_of_nameless_code(report));
}

TEST(names, a_perf_map_of_somebody_else_is_not_read) {
  LedgerProgram program({.program = "jit_region"});
  const MapOf map(program.pid(), "forged::name", kNobody);
  EXPECT_EQ(functions_in_no_file(report_of(program)), Names{""});
}

TEST(names, a_link_of_somebody_else_to_a_file_of_ours_is_not_read) {
  LedgerProgram program({.program = "jit_region"});
  const ScratchDirectory directory;
  std::ofstream(directory.path("private")) << "1000 7ffffffff000 private::words\n";
  const std::string path = "/tmp/perf-" + std::to_string(program.pid()) + ".map";
  ASSERT_EQ(::symlink(directory.path("private").c_str(), path.c_str()), 0);
  EXPECT_EQ(::lchown(path.c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(functions_in_no_file(report_of(program)), Names{""});
  ::unlink(path.c_str());
}

TEST(names, what_a_perf_map_says_commands_no_terminal) {
  LedgerProgram program({.program = "jit_region"});
  const MapOf map(program.pid(), "made::\x1b[2J\x07", ::geteuid());
  const std::string report = report_text_of(program);
  EXPECT_NE(report.find("made::"), std::string::npos);
  EXPECT_TRUE(std::none_of(report.begin(), report.end(), [](char c) { return c >= 0 && c < ' '; })) << report;
}

TEST(names, hidden_functions_are_folded_and_name_no_stack) {
  const auto labels = [](const std::vector<std::string>& options) {
    LedgerProgram program({.program = "jit_region"});
    Names found;
    const json report = report_of(program, options);
    for (const json& stack : report.at("stacks")) {
      found.insert(stack.at("label"));
      for (const json& frame : stack.at("frames")) {
        if (frame.at("function") != "below_frame") continue;
        EXPECT_EQ(frame.at("hidden").get<bool>(), options.size() == 2);
      }
    }
    return found;
  };
  const Names all = labels({});
  EXPECT_TRUE(all.contains("below_frame")) << testing::PrintToString(all);
  EXPECT_TRUE(all.contains("below_no_frame"));
  const Names some = labels({"--hide", "^below_frame$"});
  EXPECT_FALSE(some.contains("below_frame"));
  EXPECT_TRUE(some.contains("below_no_frame"));
}

/// In KiB, of /proc/PID/status.
std::uint64_t resident_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string word; status >> word;) {
    std::uint64_t kib = 0;
    if (word == "VmRSS:" && status >> kib) return kib;
  }
  return 0;
}

TEST(names, the_memory_of_the_process_stands_beside_the_live_bytes) {
  LedgerProgram program({.program = "mmap_threshold"});
  const json report = report_of(program);
  const json& memory = report.at("memory");
  const std::uint64_t resident = memory.at("resident_bytes");
  EXPECT_GE(resident, memory.at("anonymous_bytes").get<std::uint64_t>());
  EXPECT_GT(memory.at("anonymous_bytes").get<std::uint64_t>(), 0U);
  EXPECT_EQ(memory.at("live_bytes"), report.at("totals").at("live_bytes"));
  // The kernel sums it up from parts of each processor, which may lag behind.
  const auto kernels = static_cast<double>(resident_kib(program.pid()) * 1024);
  EXPECT_NEAR(static_cast<double>(resident), kernels, 0.25 * kernels + (1 << 20));
}

TEST(names, the_text_has_a_line_of_the_memory) {
  LedgerProgram program({.program = "realloc_moves"});
  ChildProcess hawktrace({.argv = {HAWKTRACE_PATH, "-p", std::to_string(program.pid()), "--report-every", "100ms"}});
  hawktrace.read_line();
  program.run();
  std::string line;
  while (!line.starts_with("process: ")) line = hawktrace.read_line();
  EXPECT_NE(line.find(" resident, "), std::string::npos) << line;
  EXPECT_NE(line.find("live at that time"), std::string::npos) << line;
  hawktrace.send_signal(SIGINT);
  hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0);
}

/// The report of `sort` on nothing, which is there on every Debian, below the words `runner`.
std::string report_of_command(const std::vector<std::string>& runner,
                              const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words = {HAWKTRACE_PATH, "--no-follow", "--"};
  words.insert(words.end(), runner.begin(), runner.end());
  words.insert(words.end(), {"/usr/bin/sort", "/dev/null"});
  ChildProcess hawktrace({.argv = words, .environment = environment});
  std::string text = hawktrace.read_to_end();
  EXPECT_EQ(hawktrace.wait(), 0) << hawktrace.errors();
  return text;
}

TEST(names, how_to_preload_a_library_is_said_and_works) {
  const std::string preload = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2";
  const std::string late = report_of_command({"/usr/bin/env", "LD_PRELOAD=" + preload}, {});
  EXPECT_NE(late.find("NOT exact"), std::string::npos) << late;
  EXPECT_NE(late.find("hint: attach after the library is loaded"), std::string::npos) << late;
  EXPECT_NE(late.find("sudo env LD_PRELOAD=... hawktrace -- COMMAND"), std::string::npos) << late;
  const std::string right = report_of_command({}, {{"LD_PRELOAD", preload}});
  // Of four milliseconds of trace; with a busy machine the unwind tables are not read by then.
  EXPECT_TRUE(right.find(": exact\n") != std::string::npos ||
              right.find(": numbers exact, stacks incomplete\n") != std::string::npos)
      << right;
  EXPECT_EQ(right.find("LD_PRELOAD"), std::string::npos) << right;
}

}  // namespace
}  // namespace hawk

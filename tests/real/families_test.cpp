// Services and builds of many processes, from their first instruction on: `hawktrace -- COMMAND` follows what it
// starts. The numbers of each process must be those that a preloaded counter has written for it, to the byte.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/own_libc.h"
#include "tests/kernel/harness/traced_family.h"
#include "tests/real/family_account.h"
#include "tests/real/services.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

/// How probes are placed.
struct Placement {
  const char* name;
  const char* links;
  const char* way;
};

/// A command that is traced, and counted, with all that it starts. Both witnesses leave files in `directory`, which
/// other users may use, too.
class CountedFamily {
 public:
  CountedFamily(const ScratchDirectory& directory, const Placement& placement, const std::vector<std::string>& command,
                const std::vector<std::string>& options = {})
      : directory_(directory) {
    const std::filesystem::path accounts = directory_.path("accounts");
    std::filesystem::create_directory(accounts);
    std::filesystem::permissions(accounts, std::filesystem::perms::all);
    std::filesystem::permissions(directory_.path(""), std::filesystem::perms(0755));
    std::vector<std::string> words = {HAWKTRACE_PATH,
                                      "--links",
                                      placement.links,
                                      "--attach-via",
                                      placement.way,
                                      "--format",
                                      "json",
                                      "--top",
                                      "0",
                                      "-q",
                                      "--verify",
                                      "-o",
                                      directory_.path("report")};
    words.insert(words.end(), options.begin(), options.end());
    // In hawktrace itself the counter would count as well.
    words.insert(words.end(),
                 {"--", "env", "LD_PRELOAD=" HAWK_FAMILY_COUNTER_PATH, HAWK_FAMILY_VARIABLE "=" + accounts.string()});
    for (const auto& [name, value] : with_own_libc(directory_)) words.push_back(fmt::format("{}={}", name, value));
    words.insert(words.end(), command.begin(), command.end());
    hawktrace_ = std::make_unique<RecordedHawktrace>(ChildProcess::Setup{.argv = words});
  }

  RecordedHawktrace& hawktrace() { return *hawktrace_; }

  /// What it says up to a line with these words, which it is waited for.
  void wait_for(const std::string& words) {
    while (hawktrace()->read_line().find(words) == std::string::npos) {
    }
  }

  /// Waits for its end, and compares process by process.
  void expect_equal(std::size_t least_processes) {
    hawktrace()->read_to_end();
    hawktrace().expect_end();
    const nlohmann::json report = nlohmann::json::parse(std::ifstream(directory_.path("report")));
    EXPECT_TRUE(report.at("exact").get<bool>()) << report.at("losses");
    const Family counted = counted_family(), traced = traced_family(report);
    EXPECT_GE(counted.size(), least_processes);
    for (const auto& [pid, numbers] : counted) EXPECT_TRUE(traced.contains(pid)) << pid << ": " << numbers;
    for (const auto& [pid, numbers] : traced) {
      const auto known = counted.find(pid);
      // Without a call there is no file.
      EXPECT_EQ(numbers, known != counted.end() ? known->second : OfProcess()) << pid;
    }
  }

 private:
  Family counted_family() const {
    Family family;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path("accounts"))) {
      hawk_family_account account = {};
      std::ifstream file(entry.path(), std::ios::binary);
      EXPECT_TRUE(file.read(reinterpret_cast<char*>(&account), sizeof(account))) << entry.path();
      EXPECT_EQ(account.lost, 0U) << "the counter's table is too small";
      family[std::stoi(entry.path().filename())] = {.allocated_count = account.allocated_count,
                                                    .allocated_bytes = account.allocated_bytes,
                                                    .freed_count = account.freed_count,
                                                    .freed_bytes = account.freed_bytes,
                                                    .inherited = account.unknown_frees};
    }
    return family;
  }

  static Family traced_family(const nlohmann::json& report) {
    if (!report.at("target").is_null()) return {{report.at("target").at("pid").get<int>(), numbers_of(report)}};
    Family family;
    for (const nlohmann::json& target : report.at("targets")) {
      EXPECT_TRUE(target.at("exact").get<bool>()) << target;
      EXPECT_TRUE(family.emplace(target.at("pid").get<int>(), numbers_of(target)).second) << "a number came twice";
    }
    return family;
  }

  const ScratchDirectory& directory_;
  std::unique_ptr<RecordedHawktrace> hawktrace_;
};

class families : public testing::TestWithParam<Placement> {
 protected:
  ScratchDirectory directory_;
};

TEST_P(families, make_with_four_jobs) {
  std::ofstream rules(directory_.path("Makefile"));
  rules << "all: program\n\t./program\nprogram: a.o b.o c.o d.o e.o\n\t$(CC) -o $@ $^\n";
  for (const std::string name : {"a", "b", "c", "d", "e"}) {
    std::ofstream source(directory_.path(name + ".c"));
    source << "#include <stdio.h>\n#include <stdlib.h>\nint " << (name == "a" ? "main" : name)
           << "(void) { char *text = malloc(100); if (text) puts(\"" << name << "\"); free(text); return 0; }\n";
  }
  rules.close();
  CountedFamily family(directory_, GetParam(), {"make", "-j4", "-C", directory_.path("")});
  // make, five times a shell or none, the compiler's driver, the compiler and the assembler; the linker.
  family.expect_equal(20);
}

TEST_P(families, nginx_with_eight_workers) {
  std::ofstream(directory_.path("index.html")) << "as it should be\n";
  write_nginx_configuration(directory_, "worker_processes 8; user root;");
  CountedFamily family(directory_, GetParam(),
                       {"nginx", "-c", directory_.path("configuration"), "-p", directory_.path("")});
  for (int i = 0; i < 8; ++i) family.wait_for("start worker process ");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(run({"curl", "-sS", "--unix-socket", directory_.path("socket"), "http://a/index.html"}),
              "as it should be\n");
  }
  family.hawktrace()->send_signal(SIGTERM);
  family.expect_equal(9);
}

TEST_P(families, redis_with_a_background_save) {
  const std::string socket = directory_.path("socket");
  CountedFamily family(directory_, GetParam(),
                       {"redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory_.path(""), "--save",
                        "", "--appendonly", "no", "--daemonize", "no"});
  family.wait_for("ready to accept connections");
  run({"redis-benchmark", "-s", socket, "-n", "2000", "-c", "8", "-r", "500", "-d", "100", "-q", "-t",
       "set,lpush,sadd"});
  run({"redis-cli", "-s", socket, "bgsave"});
  family.wait_for("Background saving terminated with success");
  run({"redis-cli", "-s", socket, "shutdown", "nosave"});
  family.expect_equal(2);
}

TEST_P(families, postgres_with_twenty_connections) {
  const std::string programs = postgres_programs(), data = directory_.path("data");
  make_database(directory_, data);
  CountedFamily family(
      directory_, GetParam(),
      {"sh", "-c", "exec \"$@\" 2>&1", "sh", programs + "/postgres", "-D", data, "-k", data, "-h", "", "-F"},
      {"--user", "nobody"});
  family.wait_for("ready to accept connections");
  std::vector<std::unique_ptr<ChildProcess>> clients;
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<ChildProcess>(
        ChildProcess::Setup{.argv = {programs + "/psql", "-XqAt", "-h", data, "-U", "test", "-d", "postgres"}}));
    clients.back()->send("select count(*) from generate_series(1, 1000) g order by 1;\n");
  }
  for (const auto& client : clients) EXPECT_EQ(client->read_line(), "1000") << client->errors();
  for (const auto& client : clients) {
    client->close_input();
    EXPECT_EQ(client->wait(), 0) << client->errors();
  }
  family.hawktrace()->send_signal(SIGTERM);
  family.expect_equal(22);
}

/// Events that processes inherit, and links for files.
INSTANTIATE_TEST_SUITE_P(, families,
                         testing::Values(Placement{"links_for_process", "process", "perf"},
                                         Placement{"points_for_process", "process", "points"},
                                         Placement{"links_for_file", "file", "session"},
                                         Placement{"points_for_file", "file", "points"}),
                         [](const testing::TestParamInfo<Placement>& test) { return test.param.name; });

}  // namespace
}  // namespace hawk

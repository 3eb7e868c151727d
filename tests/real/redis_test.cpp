// Debian's redis-server: a foreign program and allocator (jemalloc), compiled without frame pointers. Stacks may
// be short there; the totals must be those of the preloaded counter, to the byte.
#include <gtest/gtest.h>
#include <signal.h>

#include <regex>
#include <string>
#include <vector>

#include "tests/real/counted_process.h"
#include "tests/real/services.h"

namespace hawk {
namespace {

std::vector<std::string> server_command(const std::string& directory) {
  return {
      "redis-server", "--port", "0",           "--unixsocket", directory + "/socket", "--dir", directory, "--save", "",
      "--appendonly", "no",     "--daemonize", "no",           "--io-threads",        "1"};
}

/// Without process id, role and time of day: "123:M 01 Jan 2026 10:00:00.000 * Ready to accept connections".
std::string without_time(const std::string& line) {
  static const std::regex varying(R"(^\d+:\S+ (\d+ \w+ \d+ [\d:.]+|\(\d+\)) |pid=\d+)");
  return std::regex_replace(line, varying, "");
}

Twin server_alone(const std::string& directory) {
  return {.setup = {.argv = server_command(directory)}, .comparable = without_time, .end_signal = SIGTERM};
}

/// Runs one of redis's own clients to its end; returns what it printed.
std::string run_client(std::vector<std::string> argv, const std::string& directory) {
  argv.insert(argv.begin() + 1, {"-s", directory + "/socket"});
  ChildProcess client({.argv = argv});
  const std::string output = client.read_to_end();
  EXPECT_EQ(client.wait(), 0) << argv[0] << ": " << client.errors();
  return output;
}

void expect_answers(const std::string& directory) { EXPECT_EQ(run_client({"redis-cli", "ping"}, directory), "PONG\n"); }

/// Strings that grow, are replaced and expire; lists, hashes and sets that change their encoding as they grow; clients
/// that come and go with their buffers.
void benchmark(const std::string& directory, const std::string& requests) {
  for (const std::string commands : {"set,get,incr", "lpush,rpush,lpop,sadd,hset,spop,zadd,lrange_100"}) {
    run_client(
        {"redis-benchmark", "-n", requests, "-c", "20", "-P", "1", "-r", "5000", "-d", "100", "-q", "-t", commands},
        directory);
  }
  run_client({"redis-benchmark", "-n", requests, "-c", "20", "-r", "5000", "-d", "3000", "-q", "append",
              "key:__rand_int__", "some more text"},
             directory);
}

class redis : public testing::TestWithParam<Way> {
 protected:
  ScratchDirectory directory_;
};

TEST_P(redis, agrees_with_a_preloaded_counter) {
  const std::string directory = directory_.path("");
  CountedProcess server(server_alone(directory));
  wait_for_redis(server.process());
  benchmark(directory, "2000");  // blocks that are older than the trace

  const Witnesses witnesses = trace_counted(server, GetParam(), [&] {
    benchmark(directory, "10000");
    expect_answers(directory);
  });

  expect_equal(witnesses);
  EXPECT_GT(witnesses.account.allocated_count, 100'000u);
  EXPECT_GT(witnesses.account.live_count, 1'000u);
  EXPECT_GT(witnesses.account.unknown_frees, 1'000u);
  expect_answers(directory);
}

TEST_P(redis, is_exact_under_load) {
  const std::string directory = directory_.path("");
  ChildProcess server({.argv = server_command(directory)});
  wait_for_redis(server);

  Trace trace = Trace::attach(server.pid(), GetParam());
  benchmark(directory, "20000");
  const Report report = trace.finish();

  expect_exact(report);
  EXPECT_GT(report.totals.allocated_count, 100'000u);
  expect_answers(directory);
  expect_same_untraced(server, server_alone(directory));
}

INSTANTIATE_TEST_SUITE_P(, redis,
                         testing::Values(Way::kPointsArena, Way::kSessionArena, Way::kSessionHash, Way::kMultiArena),
                         [](const testing::TestParamInfo<Way>& test) { return way_name(test.param); });

}  // namespace
}  // namespace hawk

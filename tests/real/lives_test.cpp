// How long blocks live in programs whose configuration says it: the entries of redis, which expire, and the pools of
// nginx's requests, which last as long as the answer takes to be sent.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/report.h"
#include "tests/kernel/harness/trace.h"
#include "tests/real/services.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using Classes = std::map<std::uint64_t, std::uint64_t>;

/// Ages are known to this precision; lifetimes differ from true ones by as much.
const std::vector<std::string> kOptions = {"--histograms", "--interval", "100ms"};

/// The lifetimes of the blocks of stacks all of whose blocks are in this class of sizes, and at least so many.
Classes lifetimes_of(const Report& report, std::uint64_t size_class, std::uint64_t least) {
  Classes sum;
  for (const ReportStack& stack : report.stacks) {
    if (stack.sizes.size() != 1 || stack.sizes.begin()->first != size_class) continue;
    if (stack.numbers.allocated_count < least) continue;
    for (const auto& [least_ms, count] : stack.lifetimes) sum[least_ms] += count;
  }
  return sum;
}

TEST(lives, entries_of_redis_live_as_long_as_their_ttl) {
  const ScratchDirectory directory;
  const std::string socket = directory.path("socket");
  ChildProcess server({.argv = {"redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory.path(""),
                                "--save", "", "--appendonly", "no", "--daemonize", "no"}});
  wait_for_redis(server);
  const auto ask = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"redis-cli", "-s", socket});
    return run(words);
  };
  Trace trace = Trace::attach(server.pid(), Way::kSessionArena, kOptions);
  // 12 s are in the middle of the class of 8192 to 16383 ms: a busy machine has four seconds. No other block of the
  // server's is as large as a value.
  ask({"eval", "for i = 1, 200 do redis.call('SET', 'key:' .. i, string.rep('v', 100000), 'PX', 12000) end return 200",
       "0"});
  while (ask({"dbsize"}) != "0\n") ::poll(nullptr, 0, 50);
  const Report report = trace.finish();
  EXPECT_TRUE(report.numbers_exact);
  EXPECT_EQ(lifetimes_of(report, 65536, 200)[8192], 200u);
}

TEST(lives, pools_of_nginx_live_as_long_as_their_requests) {
  constexpr int kSlow = 8, kFast = 100;
  const ScratchDirectory directory;
  std::ofstream(directory.path("slow")) << std::string(4096, 's');  // at 1 KiB/s, the first at once: 3 s
  std::ofstream(directory.path("fast")) << "fast";
  write_nginx_configuration(directory, "master_process off;", "request_pool_size 48k;",
                            "location /slow { limit_rate 1k; }");
  ChildProcess server({.argv = {"nginx", "-c", directory.path("configuration"), "-p", directory.path("")}});
  wait_for(server, "nginx/");  // it listens by then
  Trace trace = Trace::attach(server.pid(), Way::kSessionArena, kOptions);
  const std::string get = "curl -sS -o /dev/null --unix-socket '" + directory.path("socket") + "' ";
  run({"sh", "-c", "for i in $(seq " + std::to_string(kSlow) + "); do " + get + "http://a/slow & done; wait"});
  std::string urls;
  for (int i = 0; i < kFast; ++i) urls += " http://a/fast";
  run({"sh", "-c", get + urls + " >/dev/null"});
  const Report report = trace.finish();
  EXPECT_TRUE(report.numbers_exact);
  // Pools of 48 KiB are the only blocks between 32 and 64 KiB. On a busy machine an answer takes longer, but neither is
  // a slow one sent before its time nor does a fast one take seconds.
  std::uint64_t slow = 0;
  std::uint64_t at_once = 0;
  for (const auto& [least_ms, count] : lifetimes_of(report, 32768, kSlow)) (least_ms < 2048 ? at_once : slow) += count;
  EXPECT_EQ(slow, static_cast<std::uint64_t>(kSlow));
  EXPECT_EQ(at_once, static_cast<std::uint64_t>(kFast));
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0);
}

}  // namespace
}  // namespace hawk

// What services map beside the heap (--mappings), under load: while the process is stopped it is as much of each kind
// as the kernel says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/kernel/harness/region_compare.h"
#include "tests/kernel/harness/trace.h"
#include "tests/real/services.h"
#include "tests/real/stopped_threads.h"
#include "tests/support/scratch_directory.h"
#include "tests/support/smaps.h"

namespace hawk {
namespace {

class mapped_services : public testing::TestWithParam<Way> {
 protected:
  /// Traces the process while it does `work`, and compares it when it stands still.
  void expect_as_in_smaps(pid_t pid, const std::function<void()>& work) {
    Trace trace = Trace::attach(pid, GetParam(), {"--mappings"});
    work();
    ASSERT_EQ(::kill(pid, SIGSTOP), 0);
    wait_until_stopped(pid);
    const Report report = trace.finish();
    expect_mapped(report, mapped_by_kind(pid));
    ::kill(pid, SIGCONT);
    EXPECT_TRUE(report.numbers_exact);
    EXPECT_FALSE(report.mappings.empty());
  }

  ScratchDirectory directory_;
};

TEST_P(mapped_services, redis) {
  const std::string socket = directory_.path("socket");
  ChildProcess server({.argv = {"redis-server", "--port", "0", "--unixsocket", socket, "--dir", directory_.path(""),
                                "--save", "", "--appendonly", "no", "--daemonize", "no"}});
  wait_for_redis(server);
  expect_as_in_smaps(server.pid(), [&] {
    run({"redis-benchmark", "-s", socket, "-n", "20000", "-c", "20", "-r", "5000", "-d", "3000", "-q", "-t",
         "set,lpush,sadd"});
    run({"redis-cli", "-s", socket, "bgsave"});
    wait_for(server, "Background saving terminated with success");
    run({"redis-cli", "-s", socket, "flushall"});
    run({"redis-benchmark", "-s", socket, "-n", "5000", "-c", "20", "-r", "500", "-d", "30", "-q", "-t", "set,hset"});
  });
}

TEST_P(mapped_services, nginx) {
  write_nginx_configuration(directory_, "worker_processes 1; user root;");
  std::ofstream(directory_.path("large")) << std::string(1 << 20, 'x');
  ChildProcess server({.argv = {"nginx", "-c", directory_.path("configuration"), "-p", directory_.path("")}});
  wait_for(server, "start worker process ");
  const std::vector<pid_t> workers = children_of(server.pid());
  ASSERT_EQ(workers.size(), 1u);
  expect_as_in_smaps(workers[0], [&] {
    std::vector<std::unique_ptr<ChildProcess>> clients;
    for (int i = 0; i < 20; ++i) {
      clients.push_back(std::make_unique<ChildProcess>(
          ChildProcess::Setup{.argv = {"curl", "-sS", "--unix-socket", directory_.path("socket"), "--compressed",
                                       "http://a/large", "http://a/missing", "-o", "/dev/null", "-o", "/dev/null"}}));
    }
    for (const auto& client : clients) EXPECT_EQ(client->wait(), 0) << client->errors();
  });
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.errors();
}

TEST_P(mapped_services, postgres) {
  const std::string programs = postgres_programs(), data = directory_.path("data");
  make_database(directory_, data);
  ChildProcess server({.argv = {"setpriv", "--reuid=nobody", "--clear-groups", "sh", "-c", "exec \"$@\" 2>&1", "sh",
                                programs + "/postgres", "-D", data, "-k", data, "-h", "", "-F"}});
  wait_for(server, "ready to accept connections");
  ChildProcess client({.argv = {programs + "/psql", "-XqAt", "-h", data, "-U", "test", "-d", "postgres"}});
  client.send("select pg_backend_pid();\n");
  const pid_t backend = std::stoi(client.read_line());
  expect_as_in_smaps(backend, [&] {
    client.send(
        "set work_mem = '64MB'; create temp table t as select g, md5(g::text) m from generate_series(1, 100000) g;\n"
        "select count(*) from (select * from t order by m) s;\n"
        "select count(*) from (select m, count(*) from t group by m) s;\n"
        "set max_parallel_workers_per_gather = 2; set min_parallel_table_scan_size = 0; set parallel_setup_cost = 0;\n"
        "select count(*) from pg_class a join pg_attribute b on a.oid = b.attrelid where b.attnum < 0 having count(*) "
        "> 0"
        " is not null;\n");
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(client.read_line().empty());
  });
  client.close_input();
  EXPECT_EQ(client.wait(), 0) << client.errors();
  server.send_signal(SIGTERM);
  EXPECT_EQ(server.wait(), 0) << server.errors();
}

TEST_P(mapped_services, python) {
  std::ofstream(directory_.path("service.py")) << R"(
import mmap, sys, threading
print("ready", flush=True)
sys.stdin.readline()
def work(number):
    blocks = [bytearray(1000 * (i % 300)) for i in range(2000)]
    maps = [mmap.mmap(-1, 4096 * (1 + i % 7)) for i in range(200)]
    for i in range(0, 200, 3): maps[i].close()
    maps[1].resize(1 << 20)
    kept.append((blocks[::2], maps))
kept = []
threads = [threading.Thread(target=work, args=(i,)) for i in range(12)]
for thread in threads: thread.start()
for thread in threads: thread.join()
import decimal, sqlite3, zlib
text = [str(i) * 40 for i in range(200000)]
del text[::2]
print("done", flush=True)
sys.stdin.readline()
)";
  ChildProcess service({.argv = {"python3", directory_.path("service.py")}});
  wait_for(service, "ready");
  expect_as_in_smaps(service.pid(), [&] {
    service.send("\n");
    wait_for(service, "done");
  });
}

INSTANTIATE_TEST_SUITE_P(, mapped_services, testing::Values(Way::kSessionArena, Way::kPointsArena),
                         [](const testing::TestParamInfo<Way>& test) { return way_name(test.param); });

}  // namespace
}  // namespace hawk

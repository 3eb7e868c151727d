#include "userspace/daemon/config_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

Result<DaemonConfig> parse(const std::string& text) { return parse_config({{"f.toml", text}}); }

std::string message_of(const Result<DaemonConfig>& config) {
  if (config) return "no error";
  EXPECT_EQ(config.error().exit_code, ExitCode::kUsage);
  return config.error().what + " / " + config.error().hint;
}

TEST(Config, HasDefaults) {
  const auto config = parse("[target.web]\nunit = \"nginx\"\n");
  ASSERT_TRUE(config) << message_of(config);
  EXPECT_EQ(config->interval, 1s);
  ASSERT_EQ(config->targets.size(), 1U);
  EXPECT_EQ(config->targets[0].name, "web");
  EXPECT_EQ(config->targets[0].mode, TargetMode::kExact);
  EXPECT_EQ(config->targets[0].processes.units, std::vector<std::string>{"nginx"});
}

TEST(Config, TakesAllKindsOfValues) {
  const auto config = parse(
      "[daemon]\ninterval = \"250ms\"\nmax-overhead = 7\nmax-memory = \"1G\"\nlinks = \"file\"\n"
      "[target.a]\nexe = [\"/opt/a\", \"/opt/b*\"]\nmode = \"watch\"\nfollow-children = true\nmax-overhead = 2.5\n"
      "watch-high-water = \"2G\"\nkeep-age = \"12h\"\n"
      "[serve]\nlisten = [\"127.0.0.1:9817\"]\ntop-stacks = 3\n"
      "[push]\nurl = \"https://p.example\"\nlabels = { host = \"web1\" }\n");
  ASSERT_TRUE(config) << message_of(config);
  EXPECT_EQ(config->interval, 250ms);
  EXPECT_EQ(config->max_overhead, 7.0);
  EXPECT_EQ(config->max_memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(config->links, LinkScope::kFile);
  const TargetConfig& target = config->targets.at(0);
  EXPECT_EQ(target.processes.executables.size(), 2U);
  EXPECT_EQ(target.mode, TargetMode::kWatch);
  EXPECT_TRUE(target.follows_children);
  EXPECT_EQ(target.max_overhead, 2.5);
  EXPECT_EQ(target.watch.high_water_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(target.recording.keep_age, 12h);
  EXPECT_EQ(config->serve.listen, std::vector<std::string>{"127.0.0.1:9817"});
  EXPECT_EQ(config->serve.top_stacks, 3U);
  EXPECT_EQ(config->serve.push.labels.at("host"), "web1");
}

TEST(Config, ExplainsMistakes) {
  EXPECT_EQ(message_of(parse("[target.a]\nunit = \"x\"\nmdoe = \"off\"\n")),
            "f.toml:3: mdoe: there is no such key in [target.a] / did you mean 'mode'?");
  EXPECT_EQ(message_of(parse("[[target]]\nname = \"a\"\nunit = \"x\"\n")),
            "f.toml:1: target: targets have names / write [target.NAME], and its keys below");
  EXPECT_EQ(message_of(parse("[daemno]\n")), "f.toml:1: daemno: there is no such table / did you mean [daemon]?");
  EXPECT_EQ(message_of(parse("[target.a]\nunit = \"x\"\nmode = \"exakt\"\n")),
            "f.toml:3: mode: 'exakt' is not one of exact, watch, off / did you mean 'exact'?");
  EXPECT_EQ(message_of(parse("[daemon]\ninterval = 1\n")),
            "f.toml:2: interval: this is no text / put the value between quotes");
  EXPECT_EQ(message_of(parse("[target.a]\nmode = \"off\"\n")),
            "f.toml:1: target.a: nothing says which processes are meant / "
            "add unit, exe, comm, name, cgroup, container or pid-file");
  EXPECT_EQ(message_of(parse("[target.a]\nunit = \"x\\u001b[2J\"\n")),
            "f.toml:2: unit: the text has control characters / write it in one line, without tabs");
  EXPECT_EQ(message_of(parse("[target.a]\nunit = \"x\"\nmax-overhead = -1\n")),
            "f.toml:3: max-overhead: this is no number of per cent above 0 and up to 100000 / "
            "write it without quotes: 2.5");
  EXPECT_EQ(message_of(parse("[target.a]\ncomm = [\"web\", \"a-name-of-20-letters\"]\n")),
            "f.toml:2: comm: the kernel keeps 15 bytes of a process's name, and this has more / "
            "write 'a-name-of-20-le', or use name or exe");
  EXPECT_EQ(message_of(parse("[target.a]\nexe = \"opt/app/*\"\n")),
            "f.toml:2: exe: no path matches that: paths begin with a slash / begin the pattern with / or */");
  EXPECT_EQ(message_of(parse("[target.a]\nexe = [\"app\", \"*/app\", \"/opt/*\"]\n")), "no error");
  EXPECT_NE(message_of(parse("[target.a]\nunit = \"x\"\nmax-overhead = nan\n")), "no error");
  EXPECT_NE(message_of(parse("[target.a]\nunit = \"x\"\npid-file = \"/run/x\"\n")), "no error");
  EXPECT_NE(message_of(parse("[target.a]\nunit = \"x\"\nkeep-size = \"1M\"\n")), "no error");
}

TEST(Config, RefusesNamesThatLeadElsewhere) {
  for (const std::string name : {"../x", ".x", "a/b", "", "-x", "a b", "a\\u0000b",
                                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}) {
    EXPECT_NE(message_of(parse("[target.\"" + name + "\"]\nunit = \"x\"\n")), "no error") << name;
  }
}

TEST(Config, LaterFilesOverrideSingleKeys) {
  const auto config = parse_config({{"a", "[target.web]\nunit = \"nginx\"\nrecord-every = \"5s\"\n"},
                                    {"b", "[target.web]\nmode = \"off\"\n[target.db]\ncomm = \"postgres\"\n"}});
  ASSERT_TRUE(config) << message_of(config);
  ASSERT_EQ(config->targets.size(), 2U);
  EXPECT_EQ(config->targets[0].name, "db");
  EXPECT_EQ(config->targets[1].mode, TargetMode::kOff);
  EXPECT_EQ(config->targets[1].recording.every, 5s);
}

TEST(Config, ReadsDropInsInOrder) {
  const ScratchDirectory directory;
  const std::string path = directory.path() + "/hawktrace.toml";
  std::ofstream(path) << "[daemon]\ninterval = \"1s\"\n";
  ASSERT_EQ(::mkdir((directory.path() + "/hawktrace.d").c_str(), 0700), 0);
  std::ofstream(directory.path() + "/hawktrace.d/20.toml") << "[daemon]\ninterval = \"3s\"\n";
  std::ofstream(directory.path() + "/hawktrace.d/10.toml") << "[daemon]\ninterval = \"2s\"\n";
  std::ofstream(directory.path() + "/hawktrace.d/30.toml~") << "no TOML";
  const auto texts = read_config(path);
  ASSERT_TRUE(texts);
  ASSERT_EQ(texts->size(), 3U);
  EXPECT_EQ(parse_config(*texts)->interval, 3s);
  EXPECT_EQ(read_config(directory.path() + "/other.toml").error().exit_code, ExitCode::kFile);
}

/// The example is the documentation of the keys: it must be what it says.
TEST(Config, HasAnExampleThatIsValid) {
  std::string example = example_config();
  const auto as_it_is = parse(example);
  ASSERT_TRUE(as_it_is) << message_of(as_it_is);
  EXPECT_TRUE(as_it_is->targets.empty());
  // Every key, but those that exclude others.
  std::string all;
  for (std::size_t at = 0; at < example.size();) {
    const std::size_t end = example.find('\n', at) + 1;
    std::string line = example.substr(at, end - at);
    const bool is_key = line.starts_with("#") && line[1] != ' ' && !line.starts_with("#pid-file");
    all += is_key ? line.substr(1) : line;
    at = end;
  }
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), std::count(example.begin(), example.end(), '\n'));
  const auto with_all = parse(all);
  ASSERT_TRUE(with_all) << message_of(with_all);
  EXPECT_EQ(with_all->targets.at(0).processes.units, std::vector<std::string>{"nginx.service"});
}

}  // namespace
}  // namespace hawk

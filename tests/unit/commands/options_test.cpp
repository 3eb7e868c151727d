#include "userspace/commands/options.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/unit/commands/parsed_options.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;
std::string info_of(const Words& words) {
  const Result<ParsedOptions> parsed = parse(words);
  return parsed && std::holds_alternative<InfoText>(*parsed) ? std::get<InfoText>(*parsed).text : "";
}

TEST(Options, DefaultsAreThoseOfTheHelp) {
  const Options options = options_of({"-p", "1"});
  EXPECT_EQ(options.processes.pids, std::vector<int>{1});
  EXPECT_TRUE(options.trace.command.empty());
  EXPECT_EQ(options.duration, std::nullopt);
  EXPECT_EQ(options.trace.interval, 1s);
  EXPECT_STREQ(options.report.format->name, "text");
  EXPECT_EQ(options.report.output_path, std::nullopt);
  EXPECT_EQ(options.report.sort, SortKey::kLive);
  EXPECT_EQ(options.report.min_size_bytes, 0U);
  EXPECT_EQ(options.report.color, ColorChoice::kAuto);
  EXPECT_EQ(options.trace.attach_via, std::nullopt);
  EXPECT_EQ(options.trace.unwind, UnwindMethod::kAuto);
  EXPECT_EQ(options.trace.stack_depth, 256U);
  EXPECT_EQ(options.trace.live_table, std::nullopt);
  EXPECT_EQ(options.trace.max_blocks, std::nullopt);
  EXPECT_EQ(options.trace.max_stacks, 131072U);
  EXPECT_EQ(options.trace.max_memory_bytes, std::nullopt);
  EXPECT_EQ(options.ready_fd, std::nullopt);
  EXPECT_EQ(options.verbosity, Verbosity::kNormal);
  EXPECT_FALSE(options.report.full_stacks || options.report.raw_bytes || options.verify || options.kill_command);
  EXPECT_FALSE(options.required.numbers || options.required.children || options.required.stacks);
}

TEST(Options, PidIsTakenInEverySpelling) {
  for (const Words& words : {Words{"-p", "1"}, {"-p1"}, {"--pid", "1"}, {"--pid=1"}, {"-qp", "1"}}) {
    EXPECT_EQ(options_of(words).processes.pids, std::vector<int>{1}) << words.front();
  }
}

TEST(Options, EverythingAfterTheSeparatorIsTheCommand) {
  const Options options = options_of({"--top", "3", "--", "ls", "-p", "7", "--help", "--", "--top"});
  EXPECT_EQ(options.trace.command, (Words{"ls", "-p", "7", "--help", "--", "--top"}));
  EXPECT_TRUE(options.processes.empty());
  EXPECT_EQ(options.report.top, 3U);
}

TEST(Options, EveryValueArrives) {
  const int ready = ::dup(STDERR_FILENO);
  const std::string ready_text = std::to_string(ready);
  const Options options = options_of({"-p",
                                      "1",
                                      "--duration",
                                      "2m",
                                      "--interval",
                                      "500ms",
                                      "--format",
                                      "json",
                                      "-o",
                                      "heap.json",
                                      "--sort",
                                      "freed-count",
                                      "--top",
                                      "7",
                                      "--min-size",
                                      "4k",
                                      "--color",
                                      "never",
                                      "--unwind",
                                      "fp",
                                      "--max-blocks",
                                      "67108864",
                                      "--attach-via",
                                      "multi",
                                      "--stack-depth",
                                      "256",
                                      "--max-stacks",
                                      "16",
                                      "--live-table",
                                      "hash",
                                      "--max-memory",
                                      "2G",
                                      "--min-block",
                                      "64k",
                                      "--ready-fd",
                                      ready_text,
                                      "--full-stacks",
                                      "--bytes",
                                      "--require-exact",
                                      "--verify",
                                      "-v"});
  EXPECT_EQ(options.duration, 2min);
  EXPECT_EQ(options.trace.interval, 500ms);
  EXPECT_STREQ(options.report.format->name, "json");
  EXPECT_EQ(options.report.output_path, "heap.json");
  EXPECT_EQ(options.report.sort, SortKey::kFreedCount);
  EXPECT_EQ(options.report.top, 7U);
  EXPECT_EQ(options.report.min_size_bytes, 4096U);
  EXPECT_EQ(options.report.color, ColorChoice::kNever);
  EXPECT_EQ(options.trace.unwind, UnwindMethod::kFramePointers);
  EXPECT_EQ(options.trace.attach_via, AttachWay::kMulti);
  EXPECT_EQ(options.trace.max_blocks, 67108864U);
  EXPECT_EQ(options.trace.stack_depth, 256U);
  EXPECT_EQ(options.trace.max_stacks, 16U);
  EXPECT_EQ(options.trace.live_table, LiveTable::kHash);
  EXPECT_EQ(options.trace.max_memory_bytes, 2147483648U);
  EXPECT_EQ(options.trace.min_block_bytes, 65536U);
  EXPECT_EQ(options.ready_fd, ready);
  ::close(ready);
  EXPECT_TRUE(options.report.full_stacks && options.report.raw_bytes && options.verify);
  EXPECT_TRUE(options.required.numbers && options.required.children && !options.required.stacks);
  EXPECT_EQ(options.verbosity, Verbosity::kVerbose);
}

TEST(Options, EveryNameOfAChoiceMeansItsEnumerator) {
  for (const Format& format : formats()) EXPECT_EQ(options_of({"-p1", "--format", format.name}).report.format, &format);
  EXPECT_EQ(options_of({"-p1", "--attach-via=auto"}).trace.attach_via, std::nullopt);
  EXPECT_EQ(options_of({"-p1", "--attach-via=points"}).trace.attach_via, AttachWay::kPoints);
  EXPECT_EQ(options_of({"-p1", "--attach-via=session"}).trace.attach_via, AttachWay::kSession);
  EXPECT_EQ(options_of({"-p1", "--attach-via=perf"}).trace.attach_via, AttachWay::kPerf);
  EXPECT_EQ(options_of({"-p1"}).trace.links, std::nullopt);
  EXPECT_EQ(options_of({"-p1", "--links=auto"}).trace.links, std::nullopt);
  EXPECT_EQ(options_of({"-p1", "--links=process"}).trace.links, LinkScope::kProcess);
  EXPECT_EQ(options_of({"-p1", "--links=file", "--attach-via=points"}).trace.links, LinkScope::kFile);
  EXPECT_EQ(options_of({"-p1", "--unwind=auto"}).trace.unwind, UnwindMethod::kAuto);
  EXPECT_EQ(options_of({"-p1", "--unwind=cfi"}).trace.unwind, UnwindMethod::kCfi);
  EXPECT_EQ(options_of({"-p1", "--live-table=auto"}).trace.live_table, std::nullopt);
  EXPECT_EQ(options_of({"-p1", "--live-table=arena"}).trace.live_table, LiveTable::kArena);
  EXPECT_EQ(options_of({"-p1", "--color=auto"}).report.color, ColorChoice::kAuto);
  EXPECT_EQ(options_of({"-p1", "--color=always"}).report.color, ColorChoice::kAlways);
  for (const SortKey key :
       {SortKey::kLive, SortKey::kLiveCount, SortKey::kAllocated, SortKey::kAllocatedCount, SortKey::kFreedCount}) {
    EXPECT_EQ(options_of({"-p1", "--sort", std::string(sort_key_name(key))}).report.sort, key);
  }
  EXPECT_EQ(options_of({"-p1", "--quiet"}).verbosity, Verbosity::kQuiet);
}

TEST(Options, ValuesThatLookOddArriveUnchanged) {
  EXPECT_EQ(options_of({"-p1", "-o", "-"}).report.output_path, "-");
  EXPECT_EQ(options_of({"-p1", "-o", "{}"}).report.output_path, "{}");
  EXPECT_EQ(options_of({"-p1", "-o", "[a,b]"}).report.output_path, "[a,b]");
  EXPECT_EQ(options_of({"-p1", "-o", "a b"}).report.output_path, "a b");
  EXPECT_EQ(options_of({"-p1", "--output=a=b"}).report.output_path, "a=b");
}

TEST(Options, TopIsTenForPeopleAndAllForPrograms) {
  EXPECT_EQ(options_of({"-p1"}).report.selection().top, 10U);
  EXPECT_EQ(options_of({"-p1", "--format=json"}).report.selection().top, 0U);
  EXPECT_EQ(options_of({"-p1", "--format=json", "--top=5"}).report.selection().top, 5U);
  EXPECT_EQ(options_of({"-p1", "--top=0"}).report.selection().top, 0U);
  const Selection selection = options_of({"-p1", "--sort=allocated", "--min-size=1M"}).report.selection();
  EXPECT_EQ(selection.sort, SortKey::kAllocated);
  EXPECT_EQ(selection.min_size_bytes, 1048576U);
}

TEST(OptionErrors, TargetMustBeExactlyOne) {
  const std::string nothing =
      "nothing to trace: neither -p PID nor -- COMMAND was given / hawktrace -p PID, or hawktrace -- COMMAND; "
      "hawktrace --help lists other ways";
  EXPECT_EQ(refusal_of({}), nothing);
  EXPECT_EQ(refusal_of({"--top", "3"}), nothing);
  EXPECT_EQ(parse_options(0, nullptr).error().what + " / " + parse_options(0, nullptr).error().hint, nothing);
  EXPECT_EQ(refusal_of({"--"}), "--: no command follows / hawktrace -- COMMAND [ARGS...]");
  const std::string both = "use either -p or -- COMMAND, not both / leave one of them out";
  EXPECT_EQ(refusal_of({"-p", "1", "--", "ls"}), both);
  EXPECT_EQ(refusal_of({"-p", "1", "--"}), both);
}

TEST(OptionErrors, PidThatIsNone) {
  EXPECT_EQ(refusal_of({"-p", "redis"}),
            "--pid: 'redis' is not a process id / for a process by name: hawktrace --name redis");
  EXPECT_EQ(refusal_of({"--pid=-5"}),
            "--pid: '-5' is not a process id / give the id of a process, as ps and pidof print it");
  EXPECT_EQ(refusal_of({"-p", "0"}),
            "--pid: '0' is not a process id / give the id of a process, as ps and pidof print it");
  const std::string own = std::to_string(::getpid());
  EXPECT_EQ(refusal_of({"-p", own}), "--pid: '" + own + "' is hawktrace itself / give the id of another process");
}

TEST(OptionErrors, MissingValue) {
  const std::string hint = " / hawktrace --help lists all options";
  EXPECT_EQ(refusal_of({"-p"}), "--pid: needs a value" + hint);
  EXPECT_EQ(refusal_of({"--pid="}), "--pid: needs a value" + hint);
  EXPECT_EQ(refusal_of({"-p", "--top", "5"}), "--pid: needs a value" + hint);
  EXPECT_EQ(refusal_of({"-p", "--top=5"}), "--pid: needs a value" + hint);
  EXPECT_EQ(refusal_of({"-p", "--", "ls"}), "--pid: needs a value" + hint);
  EXPECT_EQ(refusal_of({"-o", "-p", "1"}), "--output: needs a value" + hint);
  EXPECT_EQ(refusal_with_pid({"--duration"}), "--duration: needs a value" + hint);
}

TEST(OptionErrors, ValueForAnOptionThatTakesNone) {
  const std::string hint = " / hawktrace --help lists all options";
  EXPECT_EQ(refusal_with_pid({"--bytes=1"}), "--bytes: takes no value" + hint);
  EXPECT_EQ(refusal_with_pid({"--quiet=no"}), "--quiet: takes no value" + hint);
}

TEST(OptionErrors, OptionGivenTwice) {
  EXPECT_EQ(refusal_with_pid({"--top=1", "--top=1"}), "--top: '1' is a second value / give the option only once");
}

TEST(OptionErrors, UnknownOption) {
  EXPECT_EQ(refusal_with_pid({"--tpo", "3"}), "--tpo: no such option / did you mean --top?");
  EXPECT_EQ(refusal_with_pid({"--stackdepth=3"}), "--stackdepth: no such option / did you mean --stack-depth?");
  EXPECT_EQ(refusal_with_pid({"--frobnicate"}), "--frobnicate: no such option / hawktrace --help lists all options");
  EXPECT_EQ(refusal_with_pid({"--foo"}), "--foo: no such option / hawktrace --help lists all options");
  EXPECT_EQ(refusal_with_pid({"-x"}), "-x: no such option / hawktrace --help lists all options");
}

TEST(OptionErrors, LeftoverArgument) {
  EXPECT_EQ(refusal_of({"1234"}), "'1234': unexpected argument / to attach to that process: hawktrace -p 1234");
  EXPECT_EQ(refusal_of({"ls", "-la"}), "'ls': unexpected argument / to start a command: hawktrace -- ls");
  EXPECT_TRUE(refusal_with_pid({"2", "x"}).starts_with("'x': unexpected argument"));
  EXPECT_TRUE(refusal_with_pid({"0"}).starts_with("--pid: '0' is not a process id"));
  EXPECT_EQ(refusal_with_pid({"ls"}), "'ls': unexpected argument / hawktrace --help lists all options");
  EXPECT_EQ(refusal_of({"x", "--", "ls"}), "'x': unexpected argument / hawktrace --help lists all options");
  EXPECT_EQ(refusal_of({""}), "'': unexpected argument / hawktrace --help lists all options");
}

TEST(OptionErrors, RangesAreThoseOfTheHelp) {
  const auto small = [](const std::string& option, const std::string& text, const std::string& least) {
    EXPECT_EQ(refusal_with_pid({option, text}),
              option + ": '" + text + "' is too small / the smallest valid value is " + least);
  };
  const auto large = [](const std::string& option, const std::string& text, const std::string& most) {
    EXPECT_EQ(refusal_with_pid({option, text}),
              option + ": '" + text + "' is too large / the largest valid value is " + most);
  };
  small("--duration", "0", "1ms");
  large("--duration", "8761h", "8760h");
  small("--interval", "99ms", "100ms");
  small("--top", "-5", "0");
  large("--top", "1048577", "1048576");
  small("--min-size", "-1", "0");
  small("--stack-depth", "0", "1");
  large("--stack-depth", "257", "256");
  small("--max-blocks", "0", "1");
  large("--max-blocks", "67108865", "67108864");
  small("--max-stacks", "15", "16");
  large("--max-stacks", "1000001", "1000000");
  small("--max-memory", "-1", "0");
  large("--max-blocks", "99999999999999999999", "67108864");
}

TEST(Options, UnwindersHaveTheNamesThatSelectThem) {
  for (const char* name : {"auto", "cfi", "fp"})
    EXPECT_EQ(unwind_method_name(options_of({"-p1", "--unwind", name}).trace.unwind), name);
}

TEST(OptionErrors, MalformedValuesNameOptionAndValue) {
  EXPECT_EQ(refusal_with_pid({"--top", "12x"}), "--top: '12x' is not a whole number / give a number from 0 to 1048576");
  EXPECT_EQ(
      refusal_with_pid({"--duration", "fast"}),
      "--duration: 'fast' is not a time span / give seconds, or numbers with ms, s, m or h: 0.2, 10, 250ms, 1.5s, "
      "1h30m");
  EXPECT_EQ(refusal_with_pid({"--min-size", "4KB"}),
            "--min-size: '4KB' is not a size in bytes / give bytes (4096), or a whole number of KiB, MiB, GiB or TiB "
            "(short: k, M, G, T): 4k, 1MiB");
  EXPECT_EQ(refusal_with_pid({"--sort", "size"}),
            "--sort: 'size' is not one of live, live-count, allocated, allocated-count, freed-count / hawktrace --help "
            "explains them");
  EXPECT_EQ(refusal_with_pid({"--unwind", "cfo"}), "--unwind: 'cfo' is not one of auto, cfi, fp / did you mean 'cfi'?");
  EXPECT_EQ(refusal_with_pid({"--unwind", "dwarf"}),
            "--unwind: 'dwarf' is not one of auto, cfi, fp / hawktrace --help explains them");
  EXPECT_EQ(refusal_with_pid({"--unwind"}), "--unwind: needs a value / hawktrace --help lists all options");
  EXPECT_EQ(refusal_with_pid({"--unwind", "cfi", "--unwind", "fp"}),
            "--unwind: 'fp' is a second value / give the option only once");
  EXPECT_EQ(
      refusal_with_pid({"--links", "file", "--attach-via", "multi"}),
      "--links file: not possible with --attach-via multi / leave one of them out: --links file requires sessions");
  EXPECT_EQ(refusal_with_pid({"--attach-via", "uprobe"}),
            "--attach-via: 'uprobe' is not one of auto, points, session, multi, perf / hawktrace --help explains them");
  EXPECT_EQ(refusal_with_pid({"--live-table", "aerna"}),
            "--live-table: 'aerna' is not one of auto, arena, hash / did you mean 'arena'?");
  EXPECT_EQ(refusal_with_pid({"--live-table", "btree"}),
            "--live-table: 'btree' is not one of auto, arena, hash / hawktrace --help explains them");
  EXPECT_EQ(refusal_with_pid({"--max-memory", "2GB"}),
            "--max-memory: '2GB' is not a size in bytes / give bytes (4096), or a whole number of KiB, MiB, GiB or TiB "
            "(short: k, M, G, T): 4k, 1MiB");
  EXPECT_EQ(refusal_with_pid({"--max-memory"}), "--max-memory: needs a value / hawktrace --help lists all options");
  EXPECT_EQ(refusal_with_pid({"--color", "alway"}),
            "--color: 'alway' is not one of auto, always, never / did you mean 'always'?");
  EXPECT_EQ(refusal_with_pid({"--ready-fd", "987654"}),
            "--ready-fd: '987654' is not an open descriptor / open it in the shell: hawktrace ... 987654>FILE");
  EXPECT_EQ(refusal_with_pid({"-o", ""}),
            "--output: '' is not a file name / omit the option to write the report to stdout");
  EXPECT_EQ(refusal_with_pid({"-qv"}), "use either --quiet or --verbose, not both / leave one of them out");
}

TEST(OptionInfo, VersionIsOneLine) {
  EXPECT_EQ(info_of({"--version"}), "hawktrace " HAWKTRACE_VERSION "\n");
  EXPECT_EQ(info_of({"-p", "1", "--version"}), "hawktrace " HAWKTRACE_VERSION "\n");
}

TEST(OptionInfo, HelpWinsOverWhatElseIsWrong) {
  const std::string help = info_of({"--help"});
  EXPECT_FALSE(help.empty());
  EXPECT_EQ(info_of({"-h"}), help);
  EXPECT_EQ(info_of({"--help", "--frobnicate", "-p", "x"}), help);
  EXPECT_EQ(info_of({"--", "ls", "--help"}), "");
}

TEST(OptionInfo, HelpNamesEveryOptionExampleAndExitCodeWithin80Columns) {
  const std::string help = info_of({"--help"});
  Options unset;
  for (const OptionRow& row : option_rows(unset)) {
    if (row.value == OptionRow::Value::kArgument) continue;
    EXPECT_NE(help.find("  " + std::string(row.names) + (row.value_name == nullptr ? "" : " ")), std::string::npos)
        << row.names;
  }
  for (const char* text : {"-p,--pid PID", "--require-exact [=WHAT]", "\nExamples:\n", "\nExit status:\n",
                           "\n  6      a file", "\nWith -- COMMAND:\n  125 "}) {
    EXPECT_NE(help.find(text), std::string::npos) << text;
  }
  std::size_t start = 0;
  for (std::size_t end = help.find('\n'); end != std::string::npos; start = end + 1, end = help.find('\n', start)) {
    EXPECT_LE(end - start, 80U) << help.substr(start, end - start);
  }
  EXPECT_EQ(start, help.size()) << "ends with a line feed";
}

/// Numbers and stacks are two promises, and children a third.
TEST(Options, RequireExactSaysWhichPromiseItMeans) {
  const auto required = [](const std::string& word) { return options_of({"-p1", word}).required; };
  EXPECT_TRUE(required("--require-exact").numbers && required("--require-exact").children);
  EXPECT_FALSE(required("--require-exact").stacks);
  EXPECT_TRUE(required("--require-exact=numbers").numbers);
  EXPECT_FALSE(required("--require-exact=numbers").children || required("--require-exact=numbers").stacks);
  EXPECT_TRUE(required("--require-exact=stacks").stacks && !required("--require-exact=stacks").numbers);
  EXPECT_TRUE(required("--require-exact=numbers,stacks").numbers && required("--require-exact=numbers,stacks").stacks);
  const Required all = required("--require-exact=all");
  EXPECT_TRUE(all.numbers && all.children && all.stacks);
  EXPECT_EQ(options_of({"--require-exact", "--", "ls"}).trace.command, Words{"ls"})
      << "no value is taken from what follows";
  EXPECT_EQ(refusal_with_pid({"--require-exact=number"}),
            "--require-exact: 'number' is not one of numbers, children, stacks, all / did you mean 'numbers'?");
  EXPECT_EQ(refusal_with_pid({"--require-exact", "--require-exact=all"}),
            "--require-exact: 'all' is a second value / give the option only once");
}

TEST(Options, OnlyACommandThatOutlivesTheTraceCanBeKilled) {
  EXPECT_TRUE(options_of({"--duration", "1", "--kill", "--", "ls"}).kill_command);
  EXPECT_TRUE(refusal_with_pid({"--duration", "1", "--kill"}).starts_with("--kill: no command"));
  EXPECT_TRUE(refusal_of({"--kill", "--", "ls"}).starts_with("--kill: no command"));
}

TEST(Color, ChoiceIsStrongerThanEverything) {
  EXPECT_TRUE(use_color(ColorChoice::kAlways, false, "1", "dumb"));
  EXPECT_FALSE(use_color(ColorChoice::kNever, true, nullptr, "xterm"));
}

TEST(Color, AutoAsksTerminalAndEnvironment) {
  EXPECT_TRUE(use_color(ColorChoice::kAuto, true, nullptr, "xterm-256color"));
  EXPECT_TRUE(use_color(ColorChoice::kAuto, true, "", "xterm"));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, "1", "xterm"));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, false, nullptr, "xterm"));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, nullptr, "dumb"));
  EXPECT_FALSE(use_color(ColorChoice::kAuto, true, nullptr, nullptr));
}

}  // namespace
}  // namespace hawk

#include "userspace/base/option_values.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace hawk {
namespace {

using namespace std::chrono_literals;

/// "WHAT / HINT" of a failure that must be one of usage.
template <class T>
std::string message_of(const Result<T>& result) {
  if (result) return "no error";
  EXPECT_EQ(result.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(result.error().what.find('\n'), std::string::npos);
  return result.error().what + " / " + result.error().hint;
}

Result<std::uint64_t> number_of(std::string_view text) { return parse_number({"--n", text}, 16, 1000); }
Result<std::chrono::nanoseconds> span_of(std::string_view text) { return parse_time_span({"--t", text}, 100ms); }
Result<std::uint64_t> bytes_of(std::string_view text) { return parse_size_bytes({"--size", text}); }
/// The only one in `text`.
Result<int> pid_of(std::string_view text) {
  const std::vector<int> pids = HAWK_TRY(parse_pids({"--pid", text}, 4711));
  EXPECT_EQ(pids.size(), 1u);
  return pids.front();
}

TEST(ParseNumber, TakesBothEndsOfTheRange) {
  EXPECT_EQ(number_of("16").value(), 16U);
  EXPECT_EQ(number_of("1000").value(), 1000U);
  EXPECT_EQ(number_of("0016").value(), 16U);
  EXPECT_EQ(parse_number({"--n", "18446744073709551615"}, 0, ~std::uint64_t{0}).value(), ~std::uint64_t{0});
}

TEST(ParseNumber, NamesTheNearestValidValue) {
  EXPECT_EQ(message_of(number_of("15")), "--n: '15' is too small / the smallest valid value is 16");
  EXPECT_EQ(message_of(number_of("-3")), "--n: '-3' is too small / the smallest valid value is 16");
  EXPECT_EQ(message_of(number_of("1001")), "--n: '1001' is too large / the largest valid value is 1000");
  EXPECT_EQ(message_of(number_of("18446744073709551616")),
            "--n: '18446744073709551616' is too large / the largest valid value is 1000");
}

TEST(ParseNumber, RefusesAnythingButDigits) {
  for (const std::string text : {"", " 20", "20 ", "20x", "+20", "0x20", "2.5", "1e2", "-", "--20", "twenty"}) {
    EXPECT_EQ(message_of(number_of(text)), "--n: '" + text + "' is not a whole number / give a number from 16 to 1000");
  }
}

TEST(ParseTimeSpan, KnowsFourUnitsAndSecondsWithoutOne) {
  EXPECT_EQ(span_of("10").value(), 10s);
  EXPECT_EQ(span_of("10s").value(), 10s);
  EXPECT_EQ(span_of("500ms").value(), 500ms);
  EXPECT_EQ(span_of("2m").value(), 2min);
  EXPECT_EQ(span_of("1h").value(), 1h);
  EXPECT_EQ(span_of("100ms").value(), 100ms);
  EXPECT_EQ(span_of("8760h").value(), kMaxTimeSpan);
}

TEST(ParseTimeSpan, NamesTheNearestValidValue) {
  EXPECT_EQ(message_of(span_of("99ms")), "--t: '99ms' is too small / the smallest valid value is 100ms");
  EXPECT_EQ(message_of(span_of("0")), "--t: '0' is too small / the smallest valid value is 100ms");
  EXPECT_EQ(message_of(span_of("-1s")), "--t: '-1s' is too small / the smallest valid value is 100ms");
  EXPECT_EQ(message_of(parse_time_span({"--t", "-1s"}, 0s)),
            "--t: '-1s' is too small / the smallest valid value is 0s");
  EXPECT_EQ(message_of(span_of("8761h")), "--t: '8761h' is too large / the largest valid value is 8760h");
  EXPECT_EQ(message_of(span_of("99999999999999999999")),
            "--t: '99999999999999999999' is too large / the largest valid value is 8760h");
  EXPECT_EQ(message_of(span_of("18446744073709551615ms")),
            "--t: '18446744073709551615ms' is too large / the largest valid value is 8760h");
}

TEST(ParseTimeSpan, TakesFractionsAndSums) {
  EXPECT_EQ(span_of("0.2").value(), 200ms);
  EXPECT_EQ(span_of("1.5s").value(), 1500ms);
  EXPECT_EQ(span_of("1.25m").value(), 75s);
  EXPECT_EQ(span_of("0.5h").value(), 30min);
  EXPECT_EQ(span_of("150.5ms").value(), 150500us);
  EXPECT_EQ(span_of("1h30m").value(), 90min);
  EXPECT_EQ(span_of("1m30.5s").value(), 90500ms);
  EXPECT_EQ(span_of("1s250ms").value(), 1250ms);
  EXPECT_EQ(span_of("2.0000000000000000000001").value(), 2s);
  EXPECT_EQ(message_of(span_of("8760h1ms")), "--t: '8760h1ms' is too large / the largest valid value is 8760h");
  EXPECT_EQ(message_of(span_of("8760.1h")), "--t: '8760.1h' is too large / the largest valid value is 8760h");
  EXPECT_EQ(message_of(span_of("0.0999")), "--t: '0.0999' is too small / the smallest valid value is 100ms");
}

TEST(ParseTimeSpan, RefusesOtherUnitsAndTrailingGarbage) {
  for (const std::string text : {"",     "s",      "10d",  "10 s", "10sec", "10s5", "ms", "-",   "1.s",  ".5",
                                 "1..5", "1.5.5s", "1h30", "1h m", "1,5",   "1e3",  "S",  "10S", "0x10", "--1"}) {
    EXPECT_EQ(message_of(span_of(text)), "--t: '" + text +
                                             "' is not a time span / give seconds, or numbers with ms, s, m or h: 0.2, "
                                             "10, 250ms, 1.5s, 1h30m");
  }
}

TEST(ParseSize, UnitsArePowersOf1024) {
  EXPECT_EQ(bytes_of("0").value(), 0U);
  EXPECT_EQ(bytes_of("4096").value(), 4096U);
  EXPECT_EQ(bytes_of("100B").value(), 100U);
  for (const char* text : {"4k", "4K", "4KiB", "4kiB"}) EXPECT_EQ(bytes_of(text).value(), 4096U) << text;
  for (const char* text : {"1m", "1M", "1MiB"}) EXPECT_EQ(bytes_of(text).value(), 1048576U) << text;
  EXPECT_EQ(bytes_of("2G").value(), std::uint64_t{2} << 30);
  EXPECT_EQ(bytes_of("3TiB").value(), std::uint64_t{3} << 40);
  EXPECT_EQ(bytes_of("16777215T").value(), std::uint64_t{16777215} << 40);
}

TEST(ParseSize, NamesTheNearestValidValue) {
  EXPECT_EQ(message_of(bytes_of("-1")), "--size: '-1' is too small / the smallest valid value is 0");
  EXPECT_EQ(message_of(bytes_of("-4k")), "--size: '-4k' is too small / the smallest valid value is 0");
  EXPECT_EQ(message_of(bytes_of("16777216T")),
            "--size: '16777216T' is too large / the largest valid value is 16777215T");
  EXPECT_EQ(message_of(bytes_of("18446744073709551616")),
            "--size: '18446744073709551616' is too large / the largest valid value is 16777215T");
}

TEST(ParseSize, RefusesUnitsThatMeanTwoThings) {
  for (const std::string text : {"", "k", "4KB", "4kb", "4MB", "4 k", "4kk", "4x", "1.5M", "0x10", "4Ki", "4BiB"}) {
    EXPECT_EQ(message_of(bytes_of(text)), "--size: '" + text +
                                              "' is not a size in bytes / give bytes (4096), or a whole number of KiB, "
                                              "MiB, GiB or TiB (short: k, M, G, T): 4k, 1MiB");
  }
}

/// As pidof and pgrep print those of a service of several processes.
TEST(ParsePids, TakesSeveral) {
  for (const std::string text : {"12 34", "12,34\n", "  34\t12 ", "12, 34,"}) {
    Result<std::vector<int>> pids = parse_pids({"--pid", text}, 4711);
    ASSERT_TRUE(pids) << pids.error().what;
    std::sort(pids->begin(), pids->end());
    EXPECT_EQ(*pids, (std::vector<int>{12, 34}));
  }
}

TEST(ParsePid, TakesPositiveNumbers) {
  EXPECT_EQ(pid_of("1").value(), 1);
  EXPECT_EQ(pid_of("2147483647").value(), 2147483647);
}

TEST(ParsePid, RefusesWhatNoProcessCanHave) {
  for (const std::string text : {"0", "-5", "2147483648", "99999999999999999999", "12x", "12-13", "+7"}) {
    EXPECT_EQ(message_of(pid_of(text)),
              "--pid: '" + text + "' is not a process id / give the id of a process, as ps and pidof print it");
  }
}

TEST(ParsePid, NothingIsWhatPidofPrintsOfAServiceThatDoesNotRun) {
  EXPECT_EQ(message_of(pid_of("")),
            "--pid: '' is not a process id / pidof and pgrep print nothing if no process has the name: is the service "
            "running?");
}

TEST(ParsePid, NameGetsACommandThatWorks) {
  EXPECT_EQ(message_of(pid_of("redis-server")),
            "--pid: 'redis-server' is not a process id / for a process by name: hawktrace --name redis-server");
}

TEST(ParsePid, RefusesOurOwn) {
  EXPECT_EQ(message_of(pid_of("4711")), "--pid: '4711' is hawktrace itself / give the id of another process");
}

TEST(ParseOpenFd, TakesWhatIsOpenAndNothingElse) {
  const int fd = ::dup(STDERR_FILENO);
  const std::string text = std::to_string(fd);
  EXPECT_EQ(parse_open_fd({"--fd", text}).value(), fd);
  ::close(fd);
  EXPECT_EQ(message_of(parse_open_fd({"--fd", text})), "--fd: '" + text +
                                                           "' is not an open descriptor / open it in the shell: "
                                                           "hawktrace ... " +
                                                           text + ">FILE");
  for (const char* standard : {"0", "1", "2"}) {
    EXPECT_EQ(message_of(parse_open_fd({"--fd", standard})), std::string("--fd: '") + standard +
                                                                 "' is a standard stream / use another descriptor: "
                                                                 "hawktrace ... 3 3>FILE");
  }
  EXPECT_EQ(message_of(parse_open_fd({"--fd", "x"})),
            "--fd: 'x' is not a whole number / give a number from 0 to 2147483647");
}

constexpr std::array<std::string_view, 3> kNames{"auto", "session", "multi"};

TEST(ParseChoice, GivesTheIndex) {
  EXPECT_EQ(parse_choice({"--c", "auto"}, kNames).value(), 0U);
  EXPECT_EQ(parse_choice({"--c", "multi"}, kNames).value(), 2U);
}

TEST(ParseChoice, SuggestsTheNearestName) {
  EXPECT_EQ(message_of(parse_choice({"--c", "sesion"}, kNames)),
            "--c: 'sesion' is not one of auto, session, multi / did you mean 'session'?");
  EXPECT_EQ(message_of(parse_choice({"--c", "Multi"}, kNames)),
            "--c: 'Multi' is not one of auto, session, multi / did you mean 'multi'?");
  EXPECT_EQ(message_of(parse_choice({"--c", ""}, kNames)),
            "--c: '' is not one of auto, session, multi / hawktrace --help explains them");
}

TEST(NearestName, SuggestsNothingFarFetched) {
  EXPECT_EQ(nearest_name("auot", kNames), "auto");
  EXPECT_EQ(nearest_name("aut", kNames), "auto");
  EXPECT_EQ(nearest_name("sessoin", kNames), "session");
  EXPECT_EQ(nearest_name("uprobe", kNames), "");
  EXPECT_EQ(nearest_name("abto", kNames), "auto");
  EXPECT_EQ(nearest_name("abtx", kNames), "") << "half of the letters are wrong";
}

}  // namespace
}  // namespace hawk

#include "userspace/export/json_report.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

JsonOptions everything() {
  JsonOptions options;
  options.selection.top = 0;
  return options;
}

Json parsed(Sample& sample, const JsonOptions& options = everything()) {
  return Json::parse(render_json(sample.snapshot, sample.symbolizer, options));
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(JsonReport, KeysOfTheSchemaInOrder) {
  Sample sample = service_sample();
  const Json json = parsed(sample);
  EXPECT_EQ(keys_of(json), (Keys{"schema", "hawktrace_version", "exact", "numbers_exact", "stacks_complete", "target",
                                 "trace", "totals", "memory", "usage", "losses", "untraced_children", "unwinding",
                                 "symbol_gaps", "selection", "stacks"}));
  EXPECT_EQ(json["schema"], "hawktrace.report/1");
  EXPECT_EQ(json["hawktrace_version"], HAWKTRACE_VERSION);
  EXPECT_EQ(keys_of(json["target"]), (Keys{"pid", "comm", "exe", "cgroup", "allocators", "threads"}));
  EXPECT_EQ(keys_of(json["target"]["allocators"][0]), (Keys{"path", "build_id", "functions"}));
  EXPECT_EQ(keys_of(json["target"]["allocators"][0]["functions"][0]),
            (Keys{"name", "aliases", "file_offset", "probe_offset", "instruction", "single_stepped", "cost_ns",
                  "points", "points_fallback"}));
  EXPECT_EQ(keys_of(json["trace"]),
            (Keys{"attach_via", "live_table", "unwind", "min_block_bytes", "start_unix_ns", "duration_ns",
                  "interval_ns", "kernel", "target_exited", "exec_count", "dump_cause", "verified"}));
  EXPECT_EQ(keys_of(json["totals"]),
            (Keys{"live_bytes", "live_count", "allocated_bytes", "allocated_count", "freed_bytes", "freed_count",
                  "peak_live_bytes", "peak_is_lower_bound", "peak_live_bytes_most", "frees_of_untraced"}));
  EXPECT_EQ(keys_of(json["stacks"][0]),
            (Keys{"id", "fingerprint", "label", "live_bytes", "live_count", "allocated_bytes", "allocated_count",
                  "freed_bytes", "freed_count", "truncated", "unwound", "end", "frames"}));
  EXPECT_EQ(keys_of(json["stacks"][0]["frames"][0]),
            (Keys{"address", "module", "build_id", "module_offset", "function", "file", "line", "inlined", "hidden"}));
}

TEST(JsonReport, WhatFailedItsVerificationIsNotExact) {
  Sample sample = service_sample();
  EXPECT_EQ(parsed(sample)["exact"], true);
  sample.snapshot.trace.verified = false;
  EXPECT_EQ(parsed(sample)["exact"], false);
}

TEST(JsonReport, LossesHaveOneKeyPerCause) {
  Sample sample = lossy_sample();
  const Json json = parsed(sample);
  ASSERT_EQ(json["losses"].size(), loss_texts().size());
  for (std::size_t cause = 0; cause < loss_texts().size(); ++cause) {
    EXPECT_EQ(json["losses"][std::string(loss_texts()[cause].json_name)], sample.snapshot.losses.counts[cause]);
  }
  EXPECT_EQ(json["exact"], false);
  EXPECT_EQ(json["trace"]["verified"], false);
  EXPECT_EQ(json["trace"]["exec_count"], 2);
  EXPECT_EQ(json["trace"]["target_exited"], true);
}

TEST(JsonReport, StacksAreSortedAndSumUpToTheTotals) {
  Sample sample = service_sample();
  const Json json = parsed(sample);
  for (const char* key :
       {"live_bytes", "live_count", "allocated_bytes", "allocated_count", "freed_bytes", "freed_count"}) {
    std::uint64_t sum = 0;
    for (const Json& stack : json["stacks"]) sum += stack[key].get<std::uint64_t>();
    EXPECT_EQ(json["totals"][key], sum) << key;
  }
  std::vector<int> ids;
  for (const Json& stack : json["stacks"]) ids.push_back(stack["id"]);
  EXPECT_EQ(ids, (std::vector<int>{7, 3, 12, 1}));
}

TEST(JsonReport, EachStackSaysWhatItIsWorthAndWhyItEnds) {
  Sample sample = unwinding_sample();
  sample.add_stack(0, {8, 1, 0, 0}, {});
  const Json json = parsed(sample);
  struct Expected {
    int id;
    bool truncated;
    Json unwound;
    Json end;
  };
  const std::vector<Expected> expected = {
      {4, false, "complete", "outermost_frame"}, {5, false, "guessed", "outermost_frame"},
      {6, false, "guessed", "null_return"},      {7, true, "truncated", "unsupported_rule"},
      {8, false, "complete", "outermost_frame"}, {9, true, "truncated", "mappings_changing"},
      {10, true, "truncated", "depth_limit"},    {0, false, nullptr, nullptr}};
  ASSERT_EQ(json["stacks"].size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Json& stack = json["stacks"][i];
    EXPECT_EQ(stack["id"], expected[i].id);
    EXPECT_EQ(stack["truncated"], expected[i].truncated) << stack;
    EXPECT_EQ(stack["unwound"], expected[i].unwound) << stack;
    EXPECT_EQ(stack["end"], expected[i].end) << stack;
  }
}

TEST(JsonReport, UnwindingSumsUpAllStacksEvenThoseNotShown) {
  Sample sample = unwinding_sample();
  JsonOptions options;
  options.selection.top = 1;
  const Json json = parsed(sample, options);
  EXPECT_EQ(json["unwinding"], Json::parse(R"({
    "complete": {"live_bytes": 709000, "live_count": 79, "allocated_bytes": 709000, "stacks": 2},
    "guessed": {"live_bytes": 230000, "live_count": 23, "allocated_bytes": 230000, "stacks": 2},
    "truncated": {"live_bytes": 61000, "live_count": 16, "allocated_bytes": 61000, "stacks": 3},
    "ends": {
      "outermost_frame": {"live_bytes": 150000, "allocated_bytes": 150000, "stacks": 1},
      "depth_limit": {"live_bytes": 400, "allocated_bytes": 400, "stacks": 1},
      "unsupported_rule": {"live_bytes": 60000, "allocated_bytes": 60000, "stacks": 1},
      "mappings_changing": {"live_bytes": 600, "allocated_bytes": 600, "stacks": 1},
      "null_return": {"live_bytes": 80000, "allocated_bytes": 80000, "stacks": 1}},
    "unsupported_rules": [
      {"module": "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "reason": "CFA by an expression", "rows": 412},
      {"module": "/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "reason": "CFA from rbx", "rows": 7}],
    "modules_without_table": ["/opt/vendor/lib/libvendor-codec.so.3"],
    "cache_misses": 1234})"));
}

TEST(JsonReport, OnlyInterruptedFramesSaySo) {
  Sample sample = unwinding_sample();
  const Json json = parsed(sample);
  for (const Json& stack : json["stacks"]) {
    for (const Json& frame : stack["frames"]) {
      EXPECT_EQ(frame.contains("interrupted"), frame["file"] == "/src/script/node.h" || frame["line"] == 77) << frame;
      if (frame.contains("interrupted")) {
        EXPECT_EQ(frame["interrupted"], true);
      }
    }
  }
  const Json& frames = json["stacks"][4]["frames"];
  EXPECT_EQ(frames[2]["line"], 9) << "of the instruction itself, not of the one before";
  EXPECT_EQ(frames[2]["address"], frames[3]["address"]);
}

TEST(JsonReport, LabelsAndVisibleFramesAreWhatTheTextShows) {
  Sample sample = service_sample();
  JsonOptions options = everything();
  options.role_of = sample_role_of;
  const Json json = parsed(sample, options);
  EXPECT_EQ(json["stacks"][1]["label"], "shop::Cache::warm");
  Keys visible;
  for (const Json& frame : json["stacks"][1]["frames"]) {
    if (!frame["hidden"]) visible.push_back(frame["function"]);
  }
  EXPECT_EQ(visible, (Keys{"shop::Cache::warm(std::vector<unsigned int> const&)", "shop::Warmer::run()"}));

  Sample deep = deep_sample();
  const Json recursion = parsed(deep, options);
  std::size_t descents = 0;
  for (const Json& frame : recursion["stacks"][0]["frames"]) {
    descents += frame["function"] == "descend(Tree&, int)" && !frame["hidden"] ? 1 : 0;
  }
  EXPECT_EQ(descents, 1U) << "of a recursion one call is shown";
  EXPECT_EQ(recursion["stacks"][1]["label"], "std::string::_M_create");
  for (const Json& frame : recursion["stacks"][1]["frames"]) EXPECT_EQ(frame["hidden"], false) << "all can be folded";

  Sample lossy = lossy_sample();
  EXPECT_EQ(parsed(lossy, options)["stacks"][1]["label"], nullptr) << "no frames";
  EXPECT_EQ(parsed(lossy, options)["stacks"][1]["fingerprint"], nullptr) << "no stack was recorded";
}

TEST(JsonReport, SelectionAppliesAndIsSaid) {
  Sample sample = service_sample();
  JsonOptions options;
  options.selection = {SortKey::kAllocatedCount, 2, 1000};
  const Json json = parsed(sample, options);
  ASSERT_EQ(json["stacks"].size(), 2U);
  EXPECT_EQ(json["stacks"][0]["id"], 12);
  EXPECT_EQ(json["selection"], Json::parse(R"({"sort": "allocated-count", "top": 2, "min_size_bytes": 1000,
                                               "stacks_total": 4, "stacks_shown": 2})"));
}

TEST(JsonReport, InlinedCallsAreFramesOfTheirOwn) {
  Sample sample = service_sample();
  const Json json = parsed(sample);
  const Json& frames = json["stacks"][0]["frames"];
  ASSERT_EQ(frames.size(), 6U);
  EXPECT_EQ(frames[2]["function"], "shop::Router::route(shop::Request const&)");
  EXPECT_EQ(frames[2]["inlined"], true);
  EXPECT_EQ(frames[3]["function"], "shop::Server::dispatch(shop::Request const&)");
  EXPECT_EQ(frames[3]["inlined"], false);
  EXPECT_EQ(frames[2]["address"], frames[3]["address"]);
  EXPECT_EQ(frames[2]["file"], "/build/shop/src/http/router.h");
  EXPECT_EQ(frames[2]["line"], 77);
}

TEST(JsonReport, WhatIsUnknownIsNull) {
  Sample sample = unsymbolized_sample();
  sample.snapshot.trace.kernel.clear();
  const Json json = parsed(sample);
  const Json& nameless = json["stacks"][0]["frames"][0];
  EXPECT_EQ(nameless["module"], "/usr/lib/libcodec.so.3");
  EXPECT_TRUE(nameless["module_offset"].get<std::string>().starts_with("0x"));
  for (const char* key : {"function", "file", "line"}) EXPECT_TRUE(nameless[key].is_null()) << key;
  const Json& homeless = json["stacks"][2]["frames"][0];
  EXPECT_EQ(homeless["address"], "0x7fffdeadbeef");
  for (const char* key : {"module", "build_id", "module_offset"}) EXPECT_TRUE(homeless[key].is_null()) << key;
  EXPECT_TRUE(json["stacks"][0]["frames"][2]["build_id"].is_null());
  EXPECT_TRUE(json["trace"]["verified"].is_null());
  EXPECT_TRUE(json["trace"]["kernel"].is_null());
}

TEST(JsonReport, NumbersStayIntegersUpToTheEnd) {
  Sample sample = huge_sample();
  const std::string text = render_json(sample.snapshot, sample.symbolizer, everything());
  const Json json = Json::parse(text);
  EXPECT_EQ(json["totals"]["frees_of_untraced"].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_NE(text.find("18446744073709551615"), std::string::npos);
  const auto no_float = [](const Json& value, const auto& self) -> bool {
    if (value.is_number_float()) return false;
    if (!value.is_structured()) return true;
    for (const Json& child : value) {
      if (!self(child, self)) return false;
    }
    return true;
  };
  EXPECT_TRUE(no_float(json, no_float));
}

TEST(JsonReport, BytesThatAreNotUtf8AreReplaced) {
  Sample sample = hostile_sample();
  const Json json = parsed(sample);
  EXPECT_EQ(json["target"]["exe"], "/tmp/\uFFFD\uFFFD/名前");
  EXPECT_EQ(json["target"]["comm"], "e\x1b[2Jvil\n") << "escaped, not changed: JSON is data";
}

TEST(JsonReport, NamesOfAnyBytesComeOutAsTheLibraryWritesThem) {
  std::vector<std::string> names = {"operator\"\" _km(long double)", "a\\b", "名前", "\xc3", "\xed\xa0\x80", "x\xff"};
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != 0x7f) names.push_back(fmt::format("byte {}", static_cast<char>(byte)));
  }
  for (const std::string& name : names) {
    Sample sample = empty_sample();
    const ModuleId module = sample.add_module(name, name);
    sample.add_stack(1, {8, 1, 0, 0}, {sample.call(module, {function(name, name, 1)})});
    const std::string quoted = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
    const std::string text = render_json(sample.snapshot, sample.symbolizer, everything());
    for (const char* key : {"module", "build_id", "function", "file"}) {
      EXPECT_NE(text.find(fmt::format("\"{}\":{},", key, quoted)), std::string::npos) << key << " " << quoted;
    }
  }
}

/// JSON lets them stand, but who looks at a report on a terminal would obey them.
TEST(JsonReport, CommandsToATerminalAreEscapedAndNotLost) {
  for (const std::string name : {"a\x7fz",
                                 "\xc2\x9b"
                                 "31m",
                                 "\u061C", "\u202Egpj.c", "\u2066", "\uFEFF", "\U000E0041"}) {
    Sample sample = empty_sample();
    const ModuleId module = sample.add_module(name, name);
    sample.snapshot.target().comm = name;
    sample.add_stack(1, {8, 1, 0, 0}, {sample.call(module, {function(name, name, 1)})});
    const std::string text = render_json(sample.snapshot, sample.symbolizer, everything());
    EXPECT_EQ(text.find(name), std::string::npos) << text;
    const Json json = Json::parse(text);
    EXPECT_EQ(json["target"]["comm"], name);
    for (const char* key : {"module", "function", "file"}) EXPECT_EQ(json["stacks"][0]["frames"][0][key], name);
  }
}

TEST(JsonReport, EveryPlaceIsLookedUpOnce) {
  Sample sample = deep_sample();
  sample.add_stack(3, {8, 1, 0, 0}, {sample.snapshot.locations[1], sample.snapshot.locations[0]});
  JsonOptions options = everything();
  std::size_t announced = 0;
  options.before_symbolizing = [&](std::size_t count) { announced = count; };
  std::size_t lookups_at_first_piece = 0;
  write_json(sample.snapshot, sample.symbolizer, options, [&](std::string_view) {
    if (lookups_at_first_piece == 0) lookups_at_first_piece = sample.symbolizer.lookups();
    return true;
  });
  EXPECT_EQ(announced, 6U);
  EXPECT_EQ(lookups_at_first_piece, 6U);
  EXPECT_EQ(sample.symbolizer.lookups(), 6U);
}

TEST(JsonReport, NothingAllocatedIsAnEmptyArray) {
  Sample sample = empty_sample();
  const Json json = parsed(sample);
  EXPECT_TRUE(json["stacks"].is_array());
  EXPECT_TRUE(json["stacks"].empty());
}

TEST(JsonReport, PiecesStayBoundedAndStopWhenTheReaderIsGone) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/x", "aabb");
  const Location frame = sample.call(exe, {function("grow()", "x.c", 1)});
  for (std::uint32_t id = 1; id <= 500; ++id) sample.add_stack(id, {id, 1, 0, 0}, {frame, frame, frame});
  std::string document;
  std::size_t largest = 0;
  write_json(sample.snapshot, sample.symbolizer, everything(), [&](std::string_view piece) {
    largest = std::max(largest, piece.size());
    document += piece;
    return true;
  });
  EXPECT_EQ(document, render_json(sample.snapshot, sample.symbolizer, everything()));
  EXPECT_GT(document.size(), 250'000U);
  EXPECT_LT(largest, 100'000U);
  std::size_t calls = 0;
  write_json(sample.snapshot, sample.symbolizer, everything(), [&](std::string_view) {
    ++calls;
    return false;
  });
  EXPECT_EQ(calls, 1U);
}

TEST(JsonReport, SaysWhyCodeInNoFileHasNoName) {
  Sample sample = empty_sample();
  const Location named = sample.call_in_no_file(function("py::load", "svc.py", 0));
  sample.add_stack(1, {100, 1, 0, 0}, {named});
  EXPECT_TRUE(parsed(sample)["symbol_gaps"].empty());
  sample.add_stack(2, {100, 1, 0, 0}, {{0x7d0000001000, std::nullopt, 0}});
  const Json gaps = parsed(sample)["symbol_gaps"];
  ASSERT_EQ(gaps.size(), 1U);
  EXPECT_TRUE(gaps[0]["module"].is_null());
  EXPECT_NE(gaps[0]["reason"].get<std::string>().find("perf map"), std::string::npos);
}

}  // namespace
}  // namespace hawk

#include "userspace/report/stack_table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/report/display_text.h"

namespace hawk {
namespace {

std::vector<std::string> table_of(Sample& sample, const TextOptions& options) {
  std::string text;
  const TextSink sink = [&](std::string_view piece) {
    text += piece;
    return true;
  };
  TextPage page(options, sink);
  const std::vector<const StackRecord*> stacks = select_stacks(sample.snapshot, options.selection);
  const CallTable calls(sample.snapshot, stacks, sample.symbolizer, options.role_of);
  put_stack_table(page, sample.snapshot, stacks, calls);
  page.finish();
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TextOptions sample_options(std::size_t width = 0) {
  TextOptions options;
  options.role_of = sample_role_of;
  options.width = width;
  return options;
}

TEST(StackTable, HasOneLineAStackAndOneForAll) {
  Sample sample = service_sample();
  EXPECT_EQ(table_of(sample, sample_options()),
            (std::vector<std::string>{
                "#       LIVE▼  BLOCKS    ALLOC B/s  CALLS/s       FREED  FREED %  FUNCTION",
                "1    1.22 MiB   1,000   125.00 KiB      100         0 B    0.0 %  shop::SessionTable::open  "
                "session.cpp:58",
                "2  768.00 KiB      12    89.60 KiB        1  128.00 KiB   14.3 %  shop::Cache::warm  cache.cpp:22",
                "3       640 B      10  1006.25 KiB   16,100    9.83 MiB  >99.9 %  strdup",
                "4         0 B       0        410 B        0    4.00 KiB  100.0 %  read_configuration  main.cpp:12",
                "     1.97 MiB   1,022     1.19 MiB   16,202    9.95 MiB   83.5 %  total of 4 stacks"}));
}

TEST(StackTable, NarrowTerminalsKeepWhatMattersMost) {
  Sample sample = service_sample();
  EXPECT_EQ(table_of(sample, sample_options(80))[1],
            "1    1.22 MiB   1,000   125.00 KiB      100    0.0 %  shop::SessionTable::open");
  EXPECT_EQ(table_of(sample, sample_options(60))[1], "1    1.22 MiB   1,000   125.00 KiB  shop::SessionTable::open");
  EXPECT_EQ(table_of(sample, sample_options(30))[1], "1  shop::SessionTable::open");
}

TEST(StackTable, RowsOfOneFunctionAreToldApart) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/same", "");
  const Location make = sample.call(exe, {function("make_string")});
  const Location set_key = sample.call(exe, {function("set_key")});
  const Location log_slow = sample.call(exe, {function("log_slow")});
  sample.add_stack(1, {100, 1, 0, 0}, {make, set_key});
  sample.add_stack(2, {90, 1, 0, 0}, {make, log_slow});
  sample.add_stack(3, {80, 1, 0, 0}, {sample.call(exe, {function("other")})});
  for (const std::size_t width : {0U, 80U}) {
    const std::vector<std::string> lines = table_of(sample, sample_options(width));
    EXPECT_TRUE(lines[1].ends_with("  make_string < set_key")) << lines[1];
    EXPECT_TRUE(lines[2].ends_with("  make_string < log_slow")) << lines[2];
    EXPECT_TRUE(lines[3].ends_with("  other")) << lines[3];
  }
}

TEST(StackTable, RowsWhosePositionsDoNotFitAreDistinguished) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/same", "");
  for (const std::uint32_t line : {54U, 60U}) {
    sample.add_stack(line, {100, 1, 0, 0}, {sample.call(exe, {function("insert_into_cache", "cache.cpp", line)})});
  }
  EXPECT_TRUE(table_of(sample, sample_options())[1].ends_with("  insert_into_cache  cache.cpp:54"));
  const std::vector<std::string> narrow = table_of(sample, sample_options(46));
  EXPECT_TRUE(narrow[1].ends_with("cache.cpp:54")) << narrow[1];
  EXPECT_TRUE(narrow[2].ends_with("cache.cpp:60")) << narrow[2];
  for (const std::string& line : narrow) EXPECT_LE(display_width(line), 46U) << line;
}

TEST(StackTable, CodeOfAnInterpreterNamesItsStacks) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/python3", "");
  const Location resize = sample.call(exe, {function("list_resize", "listobject.c", 158)});
  const Location eval = sample.call(exe, {function("_PyEval_EvalFrameDefault")});
  const Location bytes = sample.call(exe, {function("PyBytes_New")});
  const Location remember = sample.call_in_no_file(function("py::remember", "svc.py", 0));
  sample.add_stack(1, {100, 1, 0, 0}, {resize, eval, remember});
  sample.add_stack(2, {90, 1, 0, 0}, {bytes, eval, remember});
  const std::vector<std::string> lines = table_of(sample, sample_options());
  EXPECT_TRUE(lines[1].ends_with("  py::remember (list_resize)")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with("  py::remember (PyBytes_New)")) << lines[2];
}

TEST(StackTable, CodeOfAJavaMachineNamesItsStacksButItsStubsDoNot) {
  Sample sample = empty_sample();
  const Location init = sample.call(sample.add_module("/usr/lib/libz.so.1", ""), {function("deflateInit2_")});
  const Location stub = sample.call_in_no_file(function("Interpreter", "", 0));
  sample.add_stack(1, {100, 1, 0, 0}, {init, stub, sample.call_in_no_file(function("Leak.openOne", "", 0))});
  sample.add_stack(2, {90, 1, 0, 0}, {init, stub});
  const std::vector<std::string> lines = table_of(sample, sample_options());
  EXPECT_TRUE(lines[1].ends_with("  Leak.openOne")) << lines[1];
  EXPECT_TRUE(lines[2].ends_with("  deflateInit2_")) << lines[2];
}

TEST(StackTable, LongNamesGetTheRoomOfColumns) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/usr/bin/long", "");
  const std::string name = "a_function_whose_name_is_rather_long";
  sample.add_stack(1, {5 << 20, 2559, 0, 0}, {sample.call(exe, {function(name)})});
  EXPECT_TRUE(table_of(sample, sample_options(80))[1].ends_with("  " + name))
      << table_of(sample, sample_options(80))[1];
}

TEST(StackTable, TheColumnSortedByIsThere) {
  Sample sample = service_sample();
  TextOptions options = sample_options(80);
  for (const auto& [key, title] :
       std::vector<std::pair<SortKey, std::string>>{{SortKey::kLive, " LIVE▼"},
                                                    {SortKey::kLiveCount, " BLOCKS▼"},
                                                    {SortKey::kAllocated, " ALLOCATED▼"},
                                                    {SortKey::kAllocatedCount, " ALLOCATIONS▼"},
                                                    {SortKey::kFreedCount, " FREES▼"}}) {
    options.selection.sort = key;
    const std::string titles = table_of(sample, options)[0];
    EXPECT_NE(titles.find(title), std::string::npos) << titles;
    EXPECT_NE(titles.find("LIVE"), std::string::npos) << titles;
  }
}

}  // namespace
}  // namespace hawk

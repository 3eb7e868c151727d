#include "userspace/report/trap_costs.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

ProbedFunction function(const std::string& name, std::optional<std::uint64_t> cost_ns) {
  ProbedFunction probed;
  probed.name = name;
  probed.cost_ns = cost_ns;
  return probed;
}

TEST(TrapCosts, NothingIsSaidOfWhatWasNotMeasured) {
  Snapshot snapshot;
  EXPECT_EQ(trap_costs_text(snapshot), "");
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {function("malloc", {}), function("free", {})}});
  EXPECT_EQ(trap_costs_text(snapshot), "");
}

TEST(TrapCosts, OfSeveralAllocatorsTheDearestCounts) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {function("malloc", 1127), function("free", 680)}});
  EXPECT_EQ(trap_costs_text(snapshot), "tracing overhead: about 1.1 µs per malloc, 0.68 µs per free");
  snapshot.target().allocators.push_back({"/lib/libmimalloc.so.2", "", {function("malloc", 9400)}});
  EXPECT_EQ(trap_costs_text(snapshot), "tracing overhead: about 9.4 µs per malloc, 0.68 µs per free");
}

TEST(TrapCosts, TheirShareIsOfTheTimeOfTheTarget) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {function("malloc", 1000), function("free", 500)}});
  snapshot.totals = {.allocated_bytes = 100, .allocated_count = 100'000, .freed_bytes = 0, .freed_count = 60'000};
  snapshot.frees_of_untraced = 40'000;
  EXPECT_EQ(trap_time_ns(snapshot), std::optional<std::uint64_t>(150'000'000));
  snapshot.usage = TracingUsage{
      .cpu_ns = 340'000'000, .peak_resident_bytes = 45 << 20, .table_bytes = 12 << 20, .target_cpu_ns = 1'500'000'000};
  EXPECT_EQ(trap_costs_text(snapshot),
            "tracing overhead: about 1 µs per malloc, 0.5 µs per free; with 200,000 calls the traps took at least "
            "10.0 % of the 1.5 s of CPU time that the process used");
  EXPECT_EQ(usage_text(snapshot, NumberStyle::kReadable),
            "hawktrace used 340 ms of CPU time and at most 45.00 MiB of memory; the kernel's tables use 12.00 MiB");
  snapshot.trace.exec_count = 1;
  EXPECT_EQ(trap_time_ns(snapshot), std::nullopt);
  snapshot.usage.reset();
  EXPECT_EQ(usage_text(snapshot, NumberStyle::kReadable), "");
}

/// libstdc++ comes along with some allocators of C, and its operator new is dearer than their malloc.
TEST(TrapCosts, TheShareIsALowerBound) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {function("malloc", 500), function("free", 500)}});
  snapshot.target().allocators.push_back({"/lib/libstdc++.so.6", "", {function("_Znwm", 1000)}});
  snapshot.target().allocators.push_back(
      {"/lib/libjemalloc.so.2", "", {function("malloc", 400), function("free", 600)}});
  snapshot.totals = {.allocated_bytes = 100, .allocated_count = 1'000, .freed_bytes = 0, .freed_count = 1'000};
  EXPECT_EQ(trap_time_ns(snapshot), std::optional<std::uint64_t>(900'000));
}

/// A function with these points at its instructions 0x10, 0x20, ..., and so many calls at each.
ProbedFunction seen_inside(const std::string& name, const std::vector<std::optional<std::uint64_t>>& calls) {
  ProbedFunction probed = function(name, {});
  probed.file_offset = 0x1000;
  for (const auto& count : calls)
    probed.points.push_back({.file_offset = 0x1010 + 0x10 * probed.points.size(), .calls = count});
  return probed;
}

TEST(TrapPoints, NothingIsSaidWhereTheyWereNotRequested) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {function("malloc", 1000)}});
  EXPECT_EQ(trap_points_text(snapshot), "");
}

TEST(TrapPoints, TheSharesAreOfTheCallsOfEachFunction) {
  Snapshot snapshot;
  ProbedFunction calloc = seen_inside("calloc", {40, 40, 0});
  calloc.points[0].shows = PointShows::kSize;
  calloc.points[1].shows = PointShows::kResult;
  ProbedFunction realloc = function("realloc", {});
  realloc.points_fallback = "its code could not be followed";
  ProbedFunction valloc = realloc;
  valloc.name = "valloc";
  snapshot.target().allocators.push_back(
      {"/lib/libc.so.6",
       "",
       {seen_inside("malloc", {3, 97, {}}), calloc, seen_inside("memalign", {0}), realloc, valloc}});
  EXPECT_EQ(
      trap_points_text(snapshot),
      "traps: malloc at +0x20 97.0 %, at +0x10 3.0 %; calloc at +0x10 100.0 % (size), at +0x20 100.0 %; at entry and "
      "return: valloc, realloc");
}

TEST(TrapPoints, OfManyFunctionsThoseWithTheNamesOfCAreShown) {
  Snapshot snapshot;
  Allocator allocator{"/lib/libmimalloc.so", "", {}};
  for (const char* name : {"mi_heap_malloc", "mi_zalloc_aligned", "malloc", "mi_calloc", "calloc", "realloc"}) {
    allocator.functions.push_back(function(name, {}));
    allocator.functions.back().points_fallback = "its code cannot be followed";
  }
  snapshot.target().allocators.push_back(allocator);
  EXPECT_EQ(trap_points_text(snapshot), "traps: at entry and return: malloc, calloc, realloc, mi_calloc and 2 more");
}

TEST(TrapPoints, TheOnesWithTheMostCallsAreShown) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back({"/lib/libc.so.6", "", {seen_inside("malloc", {1, 2, 3, 4, 90, 0})}});
  EXPECT_EQ(trap_points_text(snapshot),
            "traps: malloc at +0x50 90.0 %, at +0x40 4.0 %, at +0x30 3.0 %, at +0x20 2.0 % and 1 more");
}

TEST(TrapPoints, WhatIsTheSameInAllProcessesIsSaidOnce) {
  Snapshot snapshot;
  snapshot.targets.resize(2);
  for (TargetInfo& target : snapshot.targets)
    target.allocators.push_back({"/lib/libc.so.6", "", {seen_inside("malloc", {5})}});
  EXPECT_EQ(trap_points_text(snapshot), "traps: malloc at +0x10 100.0 %");
}

/// Where an allocator has one of its own, it is often the dearest: its returns are single-stepped.
TEST(TrapCosts, OperatorNewIsListedWhereItIsProbed) {
  Snapshot snapshot;
  snapshot.target().allocators.push_back(
      {"/usr/lib/libjemalloc.so.2", "", {function("malloc", 1140), function("_Znwm", 9855), function("free", 690)}});
  EXPECT_EQ(trap_costs_text(snapshot),
            "tracing overhead: about 1.1 µs per malloc, 9.9 µs per operator new, 0.69 µs per free");
}

TEST(TrapCosts, AFunctionIsKnownByItsAliasesToo) {
  Snapshot snapshot;
  ProbedFunction operator_delete = function("_ZdaPv", 700);
  operator_delete.aliases = {"free"};
  snapshot.target().allocators.push_back({"/lib/libtcmalloc.so.4", "", {operator_delete}});
  EXPECT_EQ(trap_costs_text(snapshot), "tracing overhead: about 0.7 µs per free");
}

}  // namespace
}  // namespace hawk

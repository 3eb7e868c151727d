// Reports for people that are narrowed down or grouped.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/unit/export/export_sample.h"
#include "tests/unit/report/sample_snapshots.h"
#include "userspace/export/text_report.h"

namespace hawk {
namespace {

std::string text_of(Sample& sample, const FrameFilter& filter, const Grouping& grouping = {},
                    TextOptions options = {}) {
  options.role_of = sample_role_of;
  return render_text(sample.snapshot, sample.symbolizer, options, filter, grouping);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ViewText, TotalsStayThoseOfTheProcess) {
  Sample sample = service_sample();
  const std::string all = text_of(sample, {});
  const std::string some = text_of(sample, {.focus = CallPattern("Cache"), .hide = CallPattern("reserve")});
  const std::size_t totals = all.find("                  bytes");
  ASSERT_NE(totals, std::string::npos);
  const std::string block = all.substr(totals, all.find("stacks: all", totals) - totals);
  EXPECT_TRUE(contains(some, block)) << some;
  EXPECT_TRUE(contains(some, "top 1 of 1 stack by live bytes\n")) << some;
  EXPECT_TRUE(contains(some, "… 3 stacks left out by --focus 'Cache', --hide 'reserve', live ")) << some;
  EXPECT_TRUE(contains(some, "… calls that match --hide 'reserve' are left out of the stacks\n"));
  EXPECT_FALSE(contains(all, "left out"));
}

TEST(ViewText, EachRuleSaysWhatItSuppressed) {
  Sample sample = service_sample();
  FrameFilter filter;
  filter.suppressions = std::make_shared<const Suppressions>(Suppressions{
      .path = "leaks.supp",
      .rules = {SuppressionTemplate("Session*open"), SuppressionTemplate("unused"), SuppressionTemplate("\x1b[2J")}});
  const std::string text = text_of(sample, filter);
  EXPECT_TRUE(contains(text, "… 1 stack suppressed, live ")) << text;
  EXPECT_TRUE(contains(text, "; the totals below include it\n")) << text;
  EXPECT_TRUE(contains(text, "suppressed by leaks.supp\nSTACKS")) << text;
  EXPECT_TRUE(contains(text, "leak:Session*open\n… 2 rules matched nothing\n")) << text;
  EXPECT_FALSE(contains(text, "SessionTable::open"));
}

TEST(ViewText, WhereAllIsSuppressedNothingSaysThatAllWasFreed) {
  Sample sample = service_sample();
  FrameFilter filter;
  filter.suppressions =
      std::make_shared<const Suppressions>(Suppressions{.path = "x", .rules = {SuppressionTemplate("*")}});
  for (const Grouping& grouping :
       {Grouping{}, Grouping{.by = GroupKind::kFunction}, Grouping{.tree = TreeDirection::kTopDown}}) {
    const std::string text = text_of(sample, filter, grouping);
    EXPECT_TRUE(contains(text, "… 4 stacks suppressed")) << text;
    EXPECT_FALSE(contains(text, "everything was freed")) << text;
  }
  EXPECT_TRUE(contains(text_of(sample, filter), "no stacks to show\n"));
}

TEST(ViewText, ATreeSaysWhereItBranches) {
  Sample sample = empty_sample();
  const ModuleId exe = sample.add_module("/bin/tree", "");
  const auto call = [&](const char* name) { return sample.call(exe, {function(name)}); };
  const Location main = call("main");
  const Location serve = call("serve");
  sample.add_stack(1, {3072, 1, 0, 0}, {call("parse"), serve, main});
  sample.add_stack(2, {1024, 1, 0, 0}, {call("store"), call("keep"), serve, main});
  const std::string text = text_of(sample, {}, {.tree = TreeDirection::kTopDown});
  EXPECT_TRUE(contains(text,
                       "  4.00 KiB  100.0 %              main\n"
                       "  4.00 KiB  100.0 %              serve\n"
                       "  3.00 KiB   75.0 %    3.00 KiB  - parse\n"
                       "  1.00 KiB   25.0 %              - keep\n"
                       "  1.00 KiB   25.0 %    1.00 KiB    store\n"))
      << text;
  const std::string callers = text_of(sample, {}, {.tree = TreeDirection::kBottomUp});
  EXPECT_TRUE(contains(callers,
                       "  3.00 KiB   75.0 %              - parse\n"
                       "  3.00 KiB   75.0 %                serve\n"
                       "  3.00 KiB   75.0 %    3.00 KiB    main\n"
                       "  1.00 KiB   25.0 %              - store\n"))
      << callers;
}

TEST(ViewText, NoNameCommandsTheTerminal) {
  for (Sample (*make)() : {hostile_sample, export_sample, deep_sample, huge_sample, lossy_sample}) {
    for (std::size_t kind = 1; kind < kGroupKindNames.size(); ++kind) {
      for (const std::size_t width : {std::size_t{0}, std::size_t{20}, std::size_t{80}}) {
        TextOptions options;
        options.width = width;
        Sample sample = make();
        FrameFilter filter;
        filter.ignore = CallPattern("\x1b");
        for (const Grouping& grouping :
             {Grouping{.by = static_cast<GroupKind>(kind)}, Grouping{.tree = TreeDirection::kTopDown},
              Grouping{.tree = TreeDirection::kBottomUp}}) {
          const std::string text = text_of(sample, filter, grouping, options);
          EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
          EXPECT_EQ(text.find('\r'), std::string::npos) << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hawk

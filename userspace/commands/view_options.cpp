#include "userspace/commands/view_options.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "userspace/base/regular_expression.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/report_options.h"
#include "userspace/views/suppressions.h"

namespace hawk {
namespace {

using Value = OptionRow::Value;

/// The C library's memory for an expression grows with the square of its length: 120 KB of alternatives take all there
/// is.
constexpr std::size_t kMaxPatternBytes = 4096;
constexpr std::uint64_t kMaxGeneration = 1U << 24;  // as many stamps as there are

OptionRow pattern_row(const char* name, const char* group, const char* help, std::optional<CallPattern>& target) {
  return {name, Value::kRequired, "REGEX", group, help, [&target](OptionValue v) -> Result<void> {
            target = HAWK_TRY(parse_pattern(v));
            return {};
          }};
}

}  // namespace

Result<CallPattern> parse_pattern(OptionValue value) {
  const std::string text(value.text);
  if (text.size() > kMaxPatternBytes) {
    return fail(
        ExitCode::kUsage,
        fmt::format("{}: the expression has {} bytes, more than {}", value.option, text.size(), kMaxPatternBytes),
        "use a shorter one");
  }
  const RegularExpression expression(text);
  if (expression.is_valid() && !text.empty()) return CallPattern(text);
  return fail(ExitCode::kUsage,
              fmt::format("{}: '{}' is not a regular expression{}{}", value.option, text,
                          expression.is_valid() ? "" : ": ", expression.error()),
              "give an extended regular expression, as for grep -E: 'my_alloc|^Pool::'");
}

void add_filter_rows(OptionRows& rows, FrameFilter& filter, const char* group) {
  rows.push_back(pattern_row("--focus", group,
                             "only stacks with a call whose function, file or module\nmatches (extended regular "
                             "expression, as for --ignore\nand --hide; totals remain those of the process)",
                             filter.focus));
  rows.push_back(pattern_row("--ignore", group, "no stacks with a matching call", filter.ignore));
  rows.push_back(pattern_row(
      "--hide", group, "remove matching calls from their stacks, such as an\napplication's own wrappers of malloc",
      filter.hide));
  rows.push_back(
      {"--suppressions", Value::kRequired, "FILE", group,
       "leave out and count stacks that match a rule in FILE:\nlines leak:TEMPLATE, in LeakSanitizer's format",
       [&filter](OptionValue v) -> Result<void> {
         const std::string path = HAWK_TRY(parse_file_name(v, "omit the option to suppress nothing"));
         filter.suppressions = std::make_shared<const Suppressions>(HAWK_TRY(read_suppressions(path)));
         return {};
       }});
}

void add_age_rows(OptionRows& rows, AgeWindow& ages, const char* group) {
  const auto set_age = [](std::optional<std::uint64_t>& target, OptionValue value) -> Result<void> {
    const std::chrono::nanoseconds age = HAWK_TRY(parse_time_span(value, std::chrono::nanoseconds(0)));
    target = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(age).count());
    return {};
  };
  rows.push_back(
      {"--min-age", Value::kRequired, "TIME", group,
       "only live blocks that were allocated at least this long\nago: 10s, 1h (to the precision of --interval; "
       "totals are\nthose of these blocks)",
       [&ages, set_age](OptionValue v) { return set_age(ages.min_age_ms, v); }});
  rows.push_back({"--older-than", Value::kRequired, "TIME", group, "the same as --min-age",
                  [&ages, set_age](OptionValue v) { return set_age(ages.min_age_ms, v); }});
  rows.push_back({"--max-age", Value::kRequired, "TIME", group,
                  "only live blocks that were allocated at most this long\nago",
                  [&ages, set_age](OptionValue v) { return set_age(ages.max_age_ms, v); }});
  rows.push_back(
      {"--generation", Value::kRequired, "N", group,
       "only live blocks that were allocated after mark N and\nbefore the next one; 0: before the first. Marks "
       "are made\nby SIGUSR2, --mark-every and the key m",
       [&ages](OptionValue v) { return set_number(ages.generation, v, 0, kMaxGeneration); }});
}

void add_grouping_rows(OptionRows& rows, Grouping& grouping, const char* group) {
  rows.push_back(
      {"--by", Value::kRequired, "WHAT", group,
       "group by stack, function, file, line, module or caller,\nwith own and cumulative numbers; or divide "
       "by process,\nexe (executable), cgroup or thread (default stack; text\nand JSON; by process, exe, cgroup "
       "or thread also most\nformats of stacks, which then begin with it)",
       [&grouping](OptionValue v) { return set_choice(grouping.by, v, kGroupKindNames); }});
  rows.push_back({"--cumulative", Value::kNone, nullptr, group, "sort the rows of --by by their cumulative numbers",
                  turn_on(grouping.cumulative_first)});
  rows.push_back({"--tree", Value::kOptional, "DIRECTION", group,
                  "show stacks as a tree of calls: top-down, from the\noutermost function (default), or bottom-up, "
                  "from the\nfunctions that allocate; with --by process, exe or\ncgroup one tree each (text and JSON)",
                  [&grouping](OptionValue v) -> Result<void> {
                    grouping.tree = TreeDirection::kTopDown;
                    return v.text.empty() ? Result<void>() : set_choice(*grouping.tree, v, kTreeDirectionNames);
                  }});
}

Result<void> check_grouping(const Grouping& grouping, const Format& format) {
  const bool has_groups = grouping.by != GroupKind::kStack;
  if (has_groups && grouping.tree && !grouping.split_by()) {
    return fail(ExitCode::kUsage, fmt::format("use either --by {} or --tree, not both", group_kind_name(grouping.by)),
                "leave one of them out");
  }
  if (grouping.cumulative_first && !has_groups) {
    return fail(ExitCode::kUsage, "--cumulative: there are no rows of --by to sort",
                "add --by function, or another value");
  }
  const bool fits = format.groups == Format::Groups::kAll || (!has_groups && !grouping.tree) ||
                    (format.groups == Format::Groups::kProcesses && grouping.split_by() && !grouping.tree);
  if (fits) return {};
  return fail(ExitCode::kUsage,
              fmt::format("{}: a file in the format {} holds stacks",
                          grouping.tree ? "--tree" : fmt::format("--by {}", group_kind_name(grouping.by)), format.name),
              "leave it out, or choose another format: --format text or json");
}

}  // namespace hawk

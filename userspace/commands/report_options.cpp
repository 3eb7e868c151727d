#include "userspace/commands/report_options.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/commands/option_setters.h"
#include "userspace/commands/view_options.h"

namespace hawk {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kColors{"auto", "always", "never"};

/// "text or json", "text, json or csv": the names of formats for which `is_named`.
template <class Predicate>
std::string format_names(Predicate is_named) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (is_named(format)) names.emplace_back(format.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  return text;
}

/// `text` in lines as the help has room for behind an option.
std::string wrapped(std::string_view text) {
  constexpr std::size_t kColumns = 56;
  std::string lines;
  while (text.size() > kColumns) {
    const std::size_t space = text.rfind(' ', kColumns);
    lines.append(text.substr(0, space)).append("\n");
    text.remove_prefix(space + 1);
  }
  return lines.append(text);
}

/// `has_default`: the option may be left out.
std::string format_help(bool has_default) {
  const std::string names = format_names([](const Format&) { return true; });
  return wrapped(has_default ? fmt::format("{} (default {})", names, formats().front().name) : names);
}

std::string top_help() {
  return wrapped(
      fmt::format("show the first N stacks, 0 for all that are not excluded by --min-size (default: {} in {}, all in "
                  "the other formats)",
                  kTopForPeople, format_names([](const Format& format) { return format.is_for_people; })));
}

Result<void> set_format(const Format*& target, OptionValue value) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  target = &formats()[HAWK_TRY(parse_choice(value, names))];
  return {};
}

}  // namespace

Result<void> set_sort(SortKey& sort, OptionValue value) {
  const std::array<std::string_view, 5> names{
      sort_key_name(SortKey::kLive), sort_key_name(SortKey::kLiveCount), sort_key_name(SortKey::kAllocated),
      sort_key_name(SortKey::kAllocatedCount), sort_key_name(SortKey::kFreedCount)};
  return set_choice(sort, value, names);
}

Selection ReportOptions::selection() const {
  const std::size_t default_top = format->is_for_people ? kTopForPeople : 0;
  return {.sort = sort, .top = top.value_or(default_top), .min_size_bytes = min_size_bytes};
}

Result<ReportOutput> ReportOptions::open_output() const {
  HAWK_TRY_VOID(check_grouping(grouping, *format));
  ReportOutput output = HAWK_TRY(ReportOutput::make(output_path));
  if (format->is_text || !output.is_terminal()) return output;
  return fail(ExitCode::kUsage,
              fmt::format("a report in the format {} is not text, and stdout is a terminal", format->name),
              fmt::format("write it to a file: -o heap.{}", format->extension));
}

Result<std::string> parse_file_name(OptionValue value, const char* without) {
  if (!value.text.empty()) return std::string(value.text);
  return fail(ExitCode::kUsage, fmt::format("{}: '' is not a file name", value.option), without);
}

void add_report_rows(OptionRows& rows, ReportOptions& options, const ReportRowNames& names) {
  constexpr auto kNone = OptionRow::Value::kNone;
  constexpr auto kRequired = OptionRow::Value::kRequired;
  const OptionRow added[] = {
      {names.format_option, kRequired, "FORMAT", kReportGroup,
       format_help(names.format_option == std::string_view("--format")),
       [&options](OptionValue v) { return set_format(options.format, v); }},
      {names.output_option, kRequired, "FILE", kReportGroup, names.output_help,
       [&options](OptionValue v) -> Result<void> {
         options.output_path = HAWK_TRY(parse_file_name(v, "omit the option to write the report to stdout"));
         return {};
       }},
      {"--sort", kRequired, "KEY", kReportGroup,
       "live, live-count, allocated, allocated-count or\nfreed-count (default live: bytes not freed); also the\nnumber "
       "in formats with one number per stack",
       [&options](OptionValue v) { return set_sort(options.sort, v); }},
      {"--top", kRequired, "N", kReportGroup, top_help(),
       [&options](OptionValue v) { return set_number(options.top, v, 0, kMaxTop); }},
      {"--min-size", kRequired, "BYTES", kReportGroup, "leave out stacks with fewer bytes: 4096, 4k, 1MiB",
       [&options](OptionValue v) { return set_size(options.min_size_bytes, v); }},
  };
  const OptionRow shown[] = {
      {"--color", kRequired, "WHEN", kReportGroup, "auto, always or never (default auto, which honours\nNO_COLOR)",
       [&options](OptionValue v) { return set_choice(options.color, v, kColors); }},
      {"--full-stacks", kNone, nullptr, kReportGroup,
       "show every frame of every stack, with its whole name,\naddress, file and module, without folding",
       turn_on(options.full_stacks)},
      {"--bytes", kNone, nullptr, kReportGroup, "plain numbers of bytes, not KiB and MiB", turn_on(options.raw_bytes)},
  };
  rows.insert(rows.end(), std::begin(added), std::end(added));
  rows.push_back({"--at-peak", kNone, nullptr, kReportGroup,
                  "the state when most bytes were live, to the precision of\n--interval, instead of that at the end",
                  turn_on(options.at_peak)});
  add_age_rows(rows, options.ages, kReportGroup);
  rows.push_back({"--histograms", kNone, nullptr, kReportGroup,
                  "also count sizes and lifetimes of blocks by stack, in\npowers of two", turn_on(options.histograms)});
  add_grouping_rows(rows, options.grouping, kReportGroup);
  add_filter_rows(rows, options.filter, kReportGroup);
  rows.insert(rows.end(), std::begin(shown), std::end(shown));
}

Result<void> check_moment(const ReportOptions& options) {
  const bool is_narrowed = !options.ages.is_empty();
  if (options.at_peak && (is_narrowed || options.histograms || options.by_thread())) {
    return fail(ExitCode::kUsage, "--at-peak: ages, histograms and threads are not known of that time",
                "leave it out, or --min-age, --max-age, --generation, --histograms and --by thread");
  }
  if (!is_narrowed || !options.by_thread()) return {};
  return fail(ExitCode::kUsage, "--by thread: the ages of blocks are not known by thread",
              "leave it out, or --min-age, --max-age and --generation");
}

bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!is_terminal || (no_color != nullptr && *no_color != '\0')) return false;
  return term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace hawk

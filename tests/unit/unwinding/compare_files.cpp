/// unwind_compare FILE...: compares the tables of any files with libdw's, and times ours. Not a test: run by hand over
/// the libraries of a whole machine. Exit status 1 when there is a difference.
#include <fcntl.h>
#include <fmt/core.h>

#include <chrono>
#include <map>
#include <set>
#include <string>

#include "tests/unit/unwinding/libdw_oracle.h"

namespace {

struct Totals {
  std::uint64_t files = 0, without_table = 0, rows = 0, libdw_rows = 0, unsupported_rows = 0, differences = 0;
  std::chrono::nanoseconds time = {};
  std::map<std::string, std::uint64_t> unsupported;
};

void compare(const std::string& path, hawk::RuleSet& rules, std::set<std::string>& seen, Totals& totals) {
  const hawk::Result<hawk::ElfImage> image =
      hawk::ElfImage::make(hawk::UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  if (!image || !seen.insert(image->build_id() + (image->build_id().empty() ? path : "")).second) return;
  const std::optional<hawk::CallFrameSection> section = image->eh_frame();
  ++totals.files;
  if (!section) {
    ++totals.without_table;
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  const hawk::UnwindTable table =
      hawk::read_unwind_table({section->bytes, section->vaddr, section->is_debug_frame, section->ends_at_zero}, rules);
  totals.time += std::chrono::steady_clock::now() - start;
  const hawk::testing::Comparison result =
      hawk::testing::compare_with_libdw(*image, hawk::testing::Oracle::kEhFrame, table, rules);
  totals.rows += table.rows.size();
  totals.libdw_rows += result.libdw_rows;
  totals.unsupported_rows += result.unsupported;
  totals.differences += result.difference_count;
  for (const auto& [reason, count] : table.unsupported) totals.unsupported[reason] += count;
  if (table.rows.size() != result.rows) fmt::print("{}: libdw has no table\n", path);
  if (result.difference_count > 0) fmt::print("{}: {} differences\n", path, result.difference_count);
  for (const std::string& difference : result.differences) fmt::print("  {}\n", difference);
}

}  // namespace

int main(int argc, char** argv) {
  hawk::RuleSet rules;
  Totals totals;
  std::set<std::string> seen;
  for (int i = 1; i < argc; ++i) compare(argv[i], rules, seen, totals);
  fmt::print("{} files, {} without .eh_frame; {} rows, {:.1f} ns each; {} rules, {} refused\n", totals.files,
             totals.without_table, totals.rows,
             static_cast<double>(totals.time.count()) / static_cast<double>(std::max<std::uint64_t>(totals.rows, 1)),
             rules.rules().size(), rules.refused());
  fmt::print("{} rows of libdw compared: {} differences, {} that no rule can say\n", totals.libdw_rows,
             totals.differences, totals.unsupported_rows);
  for (const auto& [reason, count] : totals.unsupported) fmt::print("{:8} {}\n", count, reason);
  return totals.differences == 0 ? 0 : 1;
}

#include "tests/kernel/harness/region_compare.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace hawk {
namespace {

/// The functions of a ledger program have such names.
constexpr std::string_view kSitePrefix = "in_";

/// What the report says, as regions.h writes it: by "FUNCTION/KIND/ORIGIN/mapped".
std::map<std::string, std::uint64_t> regions_in(const Report& report) {
  std::map<std::string, std::uint64_t> regions;
  for (const ReportMapping& mapping : report.mappings) {
    EXPECT_EQ(mapping.live_bytes, mapping.mapped_bytes - mapping.unmapped_bytes);
    const std::string name = site_of(mapping.frames) + "/" + mapping.kind + "/" + mapping.origin + "/";
    regions[name + "mapped"] += mapping.mapped_bytes;
    regions[name + "unmapped"] += mapping.unmapped_bytes;
  }
  return regions;
}

}  // namespace

std::string site_of(const std::vector<ReportFrame>& frames) {
  for (const ReportFrame& frame : frames) {
    if (frame.function.starts_with(kSitePrefix)) return frame.function;
  }
  return {};
}

void expect_regions(const Report& report, const std::map<std::string, std::uint64_t>& values) {
  EXPECT_TRUE(report.numbers_exact);
  std::map<std::string, std::uint64_t> found = regions_in(report);
  std::size_t compared = 0;
  for (const auto& [name, bytes] : values) {
    if (!name.starts_with(kSitePrefix)) continue;
    EXPECT_EQ(found[name], bytes) << name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
  for (const auto& [name, bytes] : found) {
    const bool is_own = name.find("/allocator/") == std::string::npos;
    if (name.starts_with(kSitePrefix) && is_own) {
      EXPECT_TRUE(values.contains(name)) << name;
    }
  }
}

void expect_mapped(const Report& report, std::map<std::string, std::uint64_t> known) {
  std::map<std::string, std::uint64_t> traced = report.mapped_by_kind;
  // Which of the anonymous ones are stacks only hawktrace knows.
  for (auto* const kinds : {&traced, &known}) (*kinds)["anonymous"] += std::exchange((*kinds)["stack"], 0);
  EXPECT_EQ(traced, known);
}

}  // namespace hawk

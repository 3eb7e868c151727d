// Every call site of every fixture, against other readers of the same formats.
//
// addr2line (binutils 2.40) is the judge. Differences that are accepted from it, each with its cause:
//  - it appends the compiler's suffixes (".cold", "[clone .isra.0]") when it takes a name from the symbol table;
//  - it prints the bare DW_AT_name of a function without a linkage name, where we find the scopes around it;
//  - without line information it names the file of the nearest STT_FILE symbol, with line 0.
// For two fixtures it is wrong at some sites, and there llvm-symbolizer must say exactly what we say:
//  - clang: it does not follow the inlined calls whose ranges are DW_FORM_rnglistx;
//  - lto: it starts DWARF 5 line programs with file 0 instead of 1, and names an inlined call without a linkage name
//  after
//    the function around it.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <ostream>

#include "oracle.h"

namespace hawk {
namespace {

/// Without what the compiler appended to the name of a part or copy of a function.
std::string without_suffix(const std::string& function) {
  const std::string name = function.substr(0, function.find(" [clone "));
  const bool is_plain = name.find_first_of("( <") == std::string::npos;
  return is_plain ? name.substr(0, name.find('.')) : name;
}

bool is_same_function(const SourceFrame& ours, const SourceFrame& theirs) {
  const std::string our_name = without_suffix(ours.function);
  const std::string their_name = without_suffix(theirs.function);
  if (our_name == their_name) return true;
  return our_name.ends_with("::" + their_name) || our_name.find("::" + their_name + "(") != std::string::npos;
}

bool is_same_place(const SourceFrame& ours, const SourceFrame& theirs) {
  if (ours.file.empty() && theirs.line == 0) return ours.line == 0;
  return base_name(ours.file) == base_name(theirs.file) && ours.line == theirs.line;
}

bool is_same(const std::vector<SourceFrame>& ours, const std::vector<SourceFrame>& theirs) {
  if (ours.empty()) return theirs.size() == 1 && theirs[0].function.empty() && theirs[0].line == 0;
  if (ours.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].inlined != theirs[i].inlined || !is_same_function(ours[i], theirs[i])) return false;
    if (!is_same_place(ours[i], theirs[i])) return false;
  }
  return true;
}

struct Case {
  const char* fixture;
  bool may_appeal;  ///< where addr2line differs, llvm-symbolizer decides
};

/// What gtest prints for a case.
void PrintTo(const Case& instance, std::ostream* out) { *out << instance.fixture; }

class CallSites : public ::testing::TestWithParam<Case> {};

TEST_P(CallSites, have_the_frames_that_addr2line_finds) {
  const std::string file = fixture(GetParam().fixture);
  const std::vector<std::uint64_t> sites = call_sites(file);
  ASSERT_GT(sites.size(), 50u);
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(file);
  const std::vector<std::vector<SourceFrame>> expected = ask_addr2line(file, sites);
  std::vector<std::vector<SourceFrame>> appeal(sites.size());
  if (GetParam().may_appeal) appeal = ask_llvm_symbolizer(file, sites);
  std::size_t agreed = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const std::vector<SourceFrame> ours = symbolizer->frames(ModuleId{0}, sites[i]);
    if (is_same(ours, expected[i])) {
      ++agreed;
      continue;
    }
    EXPECT_TRUE(is_same(ours, appeal[i]))
        << fmt::format("return address {:#x}\n  ours:      {}\n  addr2line: {}\n  llvm:      {}", sites[i],
                       to_text(ours), to_text(expected[i]), to_text(appeal[i]));
  }
  // The appeal is for exceptions: most sites must satisfy the judge.
  EXPECT_GT(agreed, sites.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(fixtures, CallSites,
                         ::testing::Values(Case{"dwarf4", false}, Case{"dwarf5", false}, Case{"compressed", false},
                                           Case{"nodebug", false}, Case{"lto", true}, Case{"clang", true}),
                         [](const auto& instance) { return std::string(instance.param.fixture); });

/// addr2line names inlined calls whose entries dwz moved to the alternate file after the function around them, and LLVM
/// cannot read such files; but the same program before dwz is its own oracle.
TEST(dwz, changes_no_frame) {
  ASSERT_NE(output_of(fmt::format("{} -h '{}'", HAWK_OBJDUMP, fixture("dwz1"))).find(".gnu_debugaltlink"),
            std::string::npos);
  const std::unique_ptr<LibdwSymbolizer> before = symbolizer_for(fixture("dwarf4"));
  const std::unique_ptr<LibdwSymbolizer> after = symbolizer_for(fixture("dwz1"));
  for (const std::uint64_t site : call_sites(fixture("dwarf4"))) {
    EXPECT_EQ(to_text(after->frames(ModuleId{0}, site)), to_text(before->frames(ModuleId{0}, site)));
  }
}

}  // namespace
}  // namespace hawk

// Units that the compiler split (-gsplit-dwarf), whose halves are in the program's directory.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <ostream>

#include "oracle.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

constexpr ModuleId kModule{0};

struct Case {
  const char* fixture;
  const char* whole;  ///< the same code, with its debug information in one piece
};

/// What gtest prints for a case.
void PrintTo(const Case& instance, std::ostream* out) { *out << instance.fixture; }

class Split : public ::testing::TestWithParam<Case> {
 protected:
  static std::string program() { return fixture(GetParam().fixture) + "/program"; }
  static std::size_t inlined_calls(const std::string& file, const std::string& path) {
    const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(file, path);
    std::size_t count = 0;
    for (const std::uint64_t site : call_sites(file)) count += symbolizer->frames(kModule, site).size() > 1 ? 1 : 0;
    return count;
  }
};

TEST_P(Split, units_change_no_frame) {
  const std::vector<std::uint64_t> sites = call_sites(program());
  ASSERT_EQ(sites, call_sites(fixture(GetParam().whole)));
  const std::unique_ptr<LibdwSymbolizer> whole = symbolizer_for(fixture(GetParam().whole));
  const std::unique_ptr<LibdwSymbolizer> split = symbolizer_for(program());
  for (const std::uint64_t site : sites) {
    EXPECT_EQ(to_text(split->frames(kModule, site)), to_text(whole->frames(kModule, site)));
  }
  EXPECT_EQ(split->gap(kModule), "");
}

/// The open file itself leads to its directory, which is not where the target says that it lies.
TEST_P(Split, files_are_never_opened_by_libdw_itself) {
  EXPECT_GT(inlined_calls(program(), program()), 50u);
  EXPECT_EQ(inlined_calls(program(), "/nowhere/program"), 0u);
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(program(), "/nowhere/program");
  for (const std::uint64_t site : call_sites(program())) symbolizer->frames(kModule, site);
  EXPECT_NE(symbolizer->gap(kModule).find(".dwo is missing"), std::string::npos) << symbolizer->gap(kModule);
}

TEST_P(Split, files_that_are_fifos_or_of_another_build_are_not_read) {
  const ScratchDirectory root;
  std::filesystem::create_directories(root.path("opt"));
  for (const char* name : {"plain.dwo", "program.dwp"}) {
    ASSERT_EQ(::mkfifo(root.path(std::string("opt/") + name).c_str(), 0600), 0);
  }
  std::filesystem::copy_file(fixture("dwarf5"), root.path("opt/inlines.dwo"));
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(program(), "/opt/program", root.path(""));
  for (const std::uint64_t site : call_sites(program())) {
    EXPECT_LE(symbolizer->frames(kModule, site).size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(fixtures, Split,
                         ::testing::Values(Case{"split4", "dwarf4"}, Case{"split5", "dwarf4"},
                                           Case{"split_clang", "clang"}, Case{"split_package", "clang"}),
                         [](const auto& instance) { return std::string(instance.param.fixture); });

}  // namespace
}  // namespace hawk

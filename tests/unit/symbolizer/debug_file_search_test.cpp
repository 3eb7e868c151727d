#include "symbolizer/debug_file_search.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "oracle.h"
#include "userspace/base/regular_file.h"

namespace hawk {
namespace {

namespace fs = std::filesystem;

/// A target's file system, with a stripped program at /opt/app/program.
class DebugFileSearch : public ::testing::Test {
 protected:
  DebugFileSearch()
      : root_(fmt::format("{}hawk_root_{}_{}", ::testing::TempDir(), ::getpid(),
                          ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "opt/app");
  }
  ~DebugFileSearch() override { fs::remove_all(root_); }

  void place(const std::string& name, const std::string& path) {
    fs::create_directories((root_ / path).parent_path());
    fs::copy_file(fixture(name), root_ / path, fs::copy_options::overwrite_existing);
  }
  /// Whether the stripped `name`, as the target's /opt/app/program, finds debug information; and its frames if so.
  SymbolSource source(const std::string& name) {
    return symbolizer_for(fixture(name), "/opt/app/program", root_)->source(ModuleId{0});
  }
  std::string build_id_path() const {
    const std::optional<ElfFile> file = ElfFile::open(open_regular_file_below("", fixture("links/program")));
    std::string hex;
    for (const char byte : file->build_id()) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return fmt::format("usr/lib/debug/.build-id/{}/{}.debug", hex.substr(0, 2), hex.substr(2));
  }

  const fs::path root_;
};

TEST_F(DebugFileSearch, finds_nothing_where_nothing_is) {
  EXPECT_EQ(source("links/program"), SymbolSource::kDynamicOnly);
}

TEST_F(DebugFileSearch, looks_by_build_id_below_the_targets_root) {
  place("links/program.debug", build_id_path());
  EXPECT_EQ(source("links/program"), SymbolSource::kDebugInfo);
}

TEST_F(DebugFileSearch, gives_the_frames_of_the_unstripped_program) {
  place("links/program.debug", build_id_path());
  const std::unique_ptr<LibdwSymbolizer> separate = symbolizer_for(fixture("links/program"), "/opt/app/program", root_);
  const std::unique_ptr<LibdwSymbolizer> whole = symbolizer_for(fixture("dwarf4"));
  for (const std::uint64_t site : call_sites(fixture("dwarf4"))) {
    EXPECT_EQ(to_text(separate->frames(ModuleId{0}, site)), to_text(whole->frames(ModuleId{0}, site)));
  }
}

TEST_F(DebugFileSearch, follows_the_debug_link_to_each_of_its_places) {
  for (const char* path :
       {"opt/app/program.debug", "opt/app/.debug/program.debug", "usr/lib/debug/opt/app/program.debug"}) {
    place("links/program.debug", path);
    EXPECT_EQ(source("links/program"), SymbolSource::kDebugInfo) << path;
    fs::remove(root_ / path);
  }
}

TEST_F(DebugFileSearch, refuses_a_file_of_another_build) {
  place("dwarf5", build_id_path());
  place("dwarf5", "opt/app/program.debug");
  EXPECT_EQ(source("links/program"), SymbolSource::kDynamicOnly);
}

TEST_F(DebugFileSearch, checks_the_sum_where_there_is_no_build_id) {
  place("links/noid.debug", "opt/app/noid.debug");
  EXPECT_EQ(source("links/noid"), SymbolSource::kDebugInfo);
  std::ofstream(root_ / "opt/app/noid.debug", std::ios::app) << "one byte more";
  EXPECT_EQ(source("links/noid"), SymbolSource::kDynamicOnly);
}

TEST_F(DebugFileSearch, resolves_links_inside_the_root) {
  place("links/program.debug", "store/program.debug");
  fs::create_directories((root_ / build_id_path()).parent_path());
  fs::create_symlink("/store/program.debug", root_ / build_id_path());
  EXPECT_EQ(source("links/program"), SymbolSource::kDebugInfo);
}

TEST_F(DebugFileSearch, never_leaves_the_root_by_a_link) {
  fs::create_symlink(fixture("links/program.debug"), root_ / "opt/app/program.debug");
  EXPECT_FALSE(open_regular_file_below(root_, "/opt/app/program.debug"));
  EXPECT_FALSE(open_regular_file_below(root_, "/../../../../../../../../etc/passwd"));
}

TEST_F(DebugFileSearch, is_not_held_up_by_a_fifo) {
  ASSERT_EQ(::mkfifo((root_ / "opt/app/program.debug").c_str(), 0600), 0);
  EXPECT_EQ(source("links/program"), SymbolSource::kDynamicOnly);
}

}  // namespace
}  // namespace hawk

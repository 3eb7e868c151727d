/// Every rule of every file that this program has mapped, and the vdso's, compared with libdw's reading.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/unwinding/libdw_oracle.h"
#include "userspace/elf/elf_image.h"
#include "userspace/process/mappings.h"
#include "userspace/process/vdso.h"

namespace hawk {
namespace {

using testing::Comparison;
using testing::Oracle;

ElfImage open_file(const std::string& path) {
  Result<ElfImage> image = ElfImage::make(UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), path);
  EXPECT_TRUE(image) << path;
  return std::move(image).value();
}

/// The program itself, the dynamic linker, libc, libm, libstdc++, libdw, libelf and what these need.
std::set<std::string> mapped_files() {
  std::set<std::string> paths;
  const std::vector<Mapping> mappings = read_mappings(::getpid()).value();
  for (const Mapping& mapping : mappings) {
    if (mapping.executable && mapping.inode != 0) paths.insert(mapping.path);
  }
  return paths;
}

Comparison compare(const ElfImage& image, Oracle oracle) {
  RuleSet rules;
  const UnwindTable table = testing::table_of(image, oracle, rules);
  Comparison result = testing::compare_with_libdw(image, oracle, table, rules);
  EXPECT_EQ(result.rows, table.rows.size()) << "libdw found no table";
  // Some row of each says why.
  EXPECT_EQ(result.unsupported > 0, std::any_of(table.rows.begin(), table.rows.end(),
                                                [](const hawk_row& row) { return row.rule == HAWK_RULE_UNSUPPORTED; }));
  EXPECT_TRUE(result.unsupported == 0 || !table.unsupported.empty());
  return result;
}

TEST(Libdw, AgreesOnEveryRowOfMappedFiles) {
  const std::set<std::string> paths = mapped_files();
  std::size_t compared = 0;
  for (const std::string& path : paths) {
    const Comparison result = compare(open_file(path), Oracle::kEhFrame);
    EXPECT_GT(result.libdw_rows, 0u) << path;
    EXPECT_EQ(result.difference_count, 0u) << path << ": " << ::testing::PrintToString(result.differences);
    compared += result.libdw_rows;
  }
  EXPECT_GE(paths.size(), 5u);
  EXPECT_GT(compared, 50000u) << "libc alone has 23,000";
}

TEST(Libdw, AgreesOnTheVdso) {
  Result<ElfLayout> vdso = read_vdso();
  ASSERT_TRUE(vdso) << vdso.error().what;
  const Comparison result = compare(ElfImage(std::move(*vdso)), Oracle::kEhFrame);
  EXPECT_GT(result.libdw_rows, 0u);
  EXPECT_EQ(result.difference_count, 0u) << ::testing::PrintToString(result.differences);
}

TEST(Libdw, AgreesOnDebugFrame) {
  const Comparison result = compare(open_file(HAWK_DEBUG_FRAME_FIXTURE), Oracle::kDebugFrame);
  EXPECT_GT(result.libdw_rows, 4u);
  EXPECT_EQ(result.difference_count, 0u) << ::testing::PrintToString(result.differences);
}

}  // namespace
}  // namespace hawk

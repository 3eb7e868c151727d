#include "symbolizer/unit_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "oracle.h"
#include "symbolizer/debug_sections.h"
#include "symbolizer/elf_file.h"

namespace hawk {
namespace {

class Units : public ::testing::Test {
 protected:
  Units() : file_(ElfFile::open(UniqueFd(::open(fixture("dwarf4").c_str(), O_RDONLY | O_CLOEXEC)))) {
    cache_.emplace(DebugSections::of(file_->elf()), info_section_of(file_->elf()));
    for (std::uint64_t offset = 0; const std::optional<UnitHeader> header = UnitHeader::at(cache_->info(), offset);) {
      starts_.push_back(offset);
      offset = header->end;
    }
  }

  std::optional<ElfFile> file_;
  std::optional<UnitCache> cache_;
  std::vector<std::uint64_t> starts_;
};

TEST_F(Units, are_found_around_their_entries) {
  ASSERT_GE(starts_.size(), 2u);
  EXPECT_EQ(cache_->around(starts_[1] + 20), cache_->at(starts_[1]));
  EXPECT_EQ(cache_->around(starts_[1] - 1), cache_->at(starts_[0]));
  EXPECT_EQ(cache_->at(starts_[0])->reader().header().offset, starts_[0]);
}

TEST_F(Units, that_do_not_exist_are_null) {
  EXPECT_EQ(cache_->at(UINT64_MAX), nullptr);
  EXPECT_EQ(cache_->at(cache_->info().size()), nullptr);
  UnitCache empty({}, InfoSection(Bytes{}));
  EXPECT_EQ(empty.around(0), nullptr);
}

TEST_F(Units, not_asked_for_longest_are_dropped_first) {
  ASSERT_GE(starts_.size(), 2u);
  for (const std::size_t kept : {0u, 1u}) {
    UnitCache cache(cache_->sections(), info_section_of(file_->elf()));
    cache.at(starts_[kept]);
    cache.trim(SIZE_MAX);
    const std::size_t one = cache.memory_bytes();
    EXPECT_GT(one, 0u);
    cache.at(starts_[1 - kept]);
    cache.trim(SIZE_MAX);
    EXPECT_GT(cache.memory_bytes(), one);
    cache.at(starts_[kept]);
    cache.trim(one);  // what was asked just now stays, the other goes
    EXPECT_EQ(cache.memory_bytes(), one);

    UnitCache in_other_order(cache_->sections(), info_section_of(file_->elf()));
    in_other_order.at(starts_[1 - kept]);
    in_other_order.trim(SIZE_MAX);
    in_other_order.at(starts_[kept]);
    in_other_order.trim(one);
    EXPECT_EQ(in_other_order.memory_bytes(), one);
  }
}

TEST_F(Units, that_grow_are_counted_anew) {
  DwarfUnit* unit = cache_->at(starts_[0]);
  cache_->trim(SIZE_MAX);
  const std::size_t before = cache_->memory_bytes();
  cache_->at(starts_[0]);
  unit->scopes_around(starts_[0] + 20);  // makes its index
  cache_->trim(SIZE_MAX);
  EXPECT_GT(cache_->memory_bytes(), before);
}

}  // namespace
}  // namespace hawk

#include "userspace/process/piecewise_reading.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <string>

namespace hawk {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 20;  // more than is read at once

/// Pages of this process that nothing has touched.
class Pages {
 public:
  Pages() : at_(::mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(at_, MAP_FAILED);
    ::madvise(at_, kPages * kPage, MADV_NOHUGEPAGE);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(at_, kPages * kPage); }

  char* at(std::size_t offset) const { return static_cast<char*>(at_) + offset; }
  AddressRange put(std::size_t offset, const std::string& text) const {
    text.copy(at(offset), text.size());
    return range(offset, text.size());
  }
  AddressRange range(std::size_t offset, std::size_t bytes) const {
    const auto start = reinterpret_cast<std::uint64_t>(at(offset));
    return {.start = start, .end = start + bytes};
  }
  void unmap(std::size_t page) const { ::munmap(at(page * kPage), kPage); }
  bool has(std::size_t page) const {
    unsigned char resident = 0;
    EXPECT_EQ(::mincore(at(page * kPage), kPage, &resident), 0);
    return (resident & 1) != 0;
  }

 private:
  void* at_;
};

std::map<std::size_t, std::string> read(const std::vector<AddressRange>& pieces) {
  std::map<std::size_t, std::string> found;
  MemoryReader memory(::getpid());
  PiecewiseReading(pieces).read(memory, [&](std::size_t number, std::span<const std::uint8_t> bytes) {
    EXPECT_TRUE(found.emplace(number, std::string(bytes.begin(), bytes.end())).second);
    return false;
  });
  return found;
}

TEST(PiecewiseReading, ShowsEachPieceByItsNumber) {
  const Pages pages;
  const std::string across = "over the end of a page";
  const AddressRange last = pages.put(4 * kPage + 10, "last"), first = pages.put(8, "first"),
                     whole = pages.put(kPage - 4, across), part = pages.range(kPage, across.size() - 4);
  EXPECT_EQ(read({last, first, {}, whole, part}),
            (std::map<std::size_t, std::string>{{0, "last"}, {1, "first"}, {3, across}, {4, across.substr(4)}}));
  EXPECT_TRUE(read({}).empty());
}

TEST(PiecewiseReading, APieceBeyondWhatIsReadAtOnceIsReadAsWell) {
  const Pages pages;
  std::vector<AddressRange> pieces;
  for (std::size_t page = 0; page < kPages; ++page) pieces.push_back(pages.put(page * kPage, std::to_string(page)));
  pieces.push_back(pages.range(0, kPages * kPage));
  const std::map<std::size_t, std::string> found = read(pieces);
  for (std::size_t page = 0; page < kPages; ++page) EXPECT_EQ(found.at(page), std::to_string(page));
  EXPECT_EQ(found.at(kPages).size(), kPages * kPage);
}

TEST(PiecewiseReading, WhatCannotBeReadTakesNoOtherPieceWithIt) {
  const Pages pages;
  const AddressRange before = pages.put(kPage - 6, "before"), behind = pages.put(2 * kPage, "behind");
  pages.unmap(1);
  EXPECT_EQ(read({before, pages.range(kPage, 1), pages.range(kPage - 1, 2), behind}),
            (std::map<std::size_t, std::string>{{0, "before"}, {3, "behind"}}));
}

TEST(PiecewiseReading, WhatIsAsItShouldBeIsShownAgainOnceItHasChanged) {
  const Pages pages;
  const std::vector<AddressRange> pieces = {pages.put(8, "one"), pages.put(20, "two"), pages.put(3 * kPage, "far")};
  MemoryReader memory(::getpid());
  PiecewiseReading reading(pieces);
  const auto shown = [&](const std::string& wrong) {
    std::string all;
    reading.read(memory, [&](std::size_t, std::span<const std::uint8_t> bytes) {
      const std::string piece(bytes.begin(), bytes.end());
      all += piece + " ";
      return piece != wrong;
    });
    return all;
  };
  EXPECT_EQ(shown("two"), "one two far ");
  EXPECT_EQ(shown("two"), "one two ") << "not all that is read with it is as it should be";
  EXPECT_EQ(shown(""), "one two ");
  EXPECT_EQ(shown(""), "");
  pages.put(8, "new");
  EXPECT_EQ(shown("new"), "new two ");
  pages.put(8, "one");
  EXPECT_EQ(shown(""), "") << "as it was";
}

/// It would be one that the process has from then on.
TEST(PiecewiseReading, ReadsNoPageWithoutAPiece) {
  const Pages pages;
  read({pages.range(0, 1), pages.range(2 * kPage + 7, 1), pages.range(3 * kPage, 1), pages.range(5 * kPage - 1, 1)});
  const std::vector<bool> expected = {true, false, true, true, true, false};
  for (std::size_t page = 0; page < expected.size(); ++page) EXPECT_EQ(pages.has(page), expected[page]) << page;
}

}  // namespace
}  // namespace hawk

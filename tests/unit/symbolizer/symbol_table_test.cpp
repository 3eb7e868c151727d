#include "symbolizer/symbol_table.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "oracle.h"
#include "symbolizer/demangle.h"
#include "symbolizer/elf_file.h"

namespace hawk {
namespace {

/// The table of a file, with the image that it points into.
struct Opened {
  explicit Opened(const std::string& file)
      : image(ElfFile::open(UniqueFd(::open(file.c_str(), O_RDONLY | O_CLOEXEC)))) {
    EXPECT_TRUE(image.has_value()) << file;
    if (image) table.add(*image);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  const std::optional<ElfFile> image;
  SymbolTable table;
};

Opened open_table(const std::string& file) { return Opened(file); }

std::uint64_t address_of(const std::string& file, const std::string& name) {
  for (const auto& [address, names] : names_by_address(file, false)) {
    if (names.contains(name)) return address;
  }
  ADD_FAILURE() << name << " is not in " << file;
  return 0;
}

std::string name_at(SymbolTable& table, std::uint64_t address) {
  const FunctionSymbol* symbol = table.find(address);
  return symbol == nullptr ? "" : std::string(symbol->name);
}

TEST(symbol_table, gives_an_unsized_symbol_the_bytes_up_to_the_next) {
  const std::string file = fixture("nodebug");
  Opened opened = open_table(file);
  const std::uint64_t unsized = address_of(file, "unsized_in_assembly");
  const std::uint64_t after = address_of(file, "after_assembly");
  EXPECT_EQ(name_at(opened.table, unsized), "unsized_in_assembly");
  EXPECT_EQ(name_at(opened.table, after - 1), "unsized_in_assembly");
  EXPECT_EQ(name_at(opened.table, after), "after_assembly");
}

TEST(symbol_table, does_not_stretch_a_sized_symbol) {
  const std::string file = fixture("nodebug");
  Opened opened = open_table(file);
  const std::uint64_t sized = address_of(file, "sized_in_assembly");
  const std::uint64_t unsized = address_of(file, "unsized_in_assembly");
  EXPECT_EQ(name_at(opened.table, sized), "sized_in_assembly");
  EXPECT_EQ(name_at(opened.table, unsized - 1), "");
}

TEST(symbol_table, finds_nothing_outside_code) {
  Opened opened = open_table(fixture("nodebug"));
  EXPECT_EQ(opened.table.find(0), nullptr);
  EXPECT_EQ(opened.table.find(UINT64_MAX), nullptr);
}

/// A big stripped library: each call site must get a name that nm gives the symbol which addr2line finds there. Where
/// addr2line names the nearest symbol before, though that one has ended, we say nothing.
TEST(symbol_table, names_call_sites_of_libstdcxx_as_addr2line_does) {
  const std::string file = output_of("realpath $(c++ -print-file-name=libstdc++.so.6) | tr -d '\\n'");
  const std::vector<std::uint64_t> sites = call_sites(file);
  ASSERT_GT(sites.size(), 10000u);
  const std::vector<std::vector<SourceFrame>> expected = ask_addr2line(file, sites);
  const std::map<std::uint64_t, std::set<std::string>> names = names_by_address(file, true);
  Opened opened = open_table(file);
  std::size_t named = 0;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const FunctionSymbol* symbol = opened.table.find(sites[i] - 1);
    if (symbol == nullptr) continue;
    ++named;
    const std::string theirs = expected[i][0].function;
    const std::string ours = demangle(symbol->name);
    const auto aliases = names.find(symbol->address);
    ASSERT_NE(aliases, names.end()) << ours;
    EXPECT_TRUE(aliases->second.contains(ours)) << ours;
    EXPECT_TRUE(aliases->second.contains(theirs)) << fmt::format("{:#x}: {}, not {}", sites[i], theirs, ours);
  }
  EXPECT_GT(named, 10000u);
}

}  // namespace
}  // namespace hawk

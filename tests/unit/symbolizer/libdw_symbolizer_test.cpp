#include "symbolizer/libdw_symbolizer.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>

#include "debug_image.h"
#include "oracle.h"
#include "symbolizer/section_sizes.h"
#include "tests/support/scratch_directory.h"
#include "userspace/process/vdso.h"

namespace hawk {
namespace {

constexpr ModuleId kModule{0};

std::string bytes_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(libdw_symbolizer, says_what_it_found) {
  EXPECT_EQ(symbolizer_for(fixture("dwarf5"))->source(kModule), SymbolSource::kDebugInfo);
  EXPECT_EQ(symbolizer_for(fixture("nodebug"))->source(kModule), SymbolSource::kSymtab);
  EXPECT_EQ(symbolizer_for(fixture("links/program"), "/nowhere/program")->source(kModule), SymbolSource::kDynamicOnly);
  EXPECT_EQ(symbolizer_for("/etc/passwd")->source(kModule), SymbolSource::kNone);
}

TEST(libdw_symbolizer, knows_nothing_of_unknown_or_unreadable_modules) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = LibdwSymbolizer::make();
  EXPECT_TRUE(symbolizer->frames(kModule, 0x1000).empty());
  EXPECT_EQ(symbolizer->source(kModule), SymbolSource::kNone);
  symbolizer->add_module(kModule, {"/usr/bin/gone", UniqueFd(), "", false});
  EXPECT_TRUE(symbolizer->frames(kModule, 0x1000).empty());
  EXPECT_EQ(symbolizer->source(kModule), SymbolSource::kNone);
}

TEST(libdw_symbolizer, finds_nothing_at_addresses_without_code) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(fixture("dwarf4"));
  for (const std::uint64_t address : {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, std::uint64_t{1} << 40}) {
    EXPECT_TRUE(symbolizer->frames(kModule, address).empty()) << address;
  }
}

TEST(libdw_symbolizer, reads_a_deleted_file_through_its_descriptor) {
  const std::unique_ptr<LibdwSymbolizer> whole = symbolizer_for(fixture("dwarf4"));
  const std::unique_ptr<LibdwSymbolizer> deleted = LibdwSymbolizer::make();
  deleted->add_module(kModule, {"/opt/app/program", deleted_file(bytes_of(fixture("dwarf4"))), "", false});
  for (const std::uint64_t site : call_sites(fixture("dwarf4"))) {
    EXPECT_EQ(deleted->frames(kModule, site), whole->frames(kModule, site));
  }
}

TEST(libdw_symbolizer, spells_files_with_their_directory) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(fixture("dwarf5"));
  std::size_t with_file = 0;
  for (const std::uint64_t site : call_sites(fixture("dwarf5"))) {
    for (const SourceFrame& frame : symbolizer->frames(kModule, site)) {
      if (frame.file.empty()) continue;
      ++with_file;
      EXPECT_EQ(frame.file[0], '/') << frame.file;
    }
  }
  EXPECT_GT(with_file, 100u);
}

TEST(libdw_symbolizer, tells_the_scope_of_functions_without_a_linkage_name) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(fixture("dwarf4"));
  std::set<std::string> inlined;
  for (const std::uint64_t site : call_sites(fixture("dwarf4"))) {
    for (const SourceFrame& frame : symbolizer->frames(kModule, site)) {
      if (frame.inlined) inlined.insert(frame.function);
    }
  }
  EXPECT_FALSE(inlined.contains("operator()"));
  EXPECT_TRUE(std::any_of(inlined.begin(), inlined.end(), [](const std::string& name) {
    return name.starts_with("shapes::with_local_class(int)::") && name.ends_with("::operator()");
  }));
}

class Prepared : public ::testing::TestWithParam<const char*> {};

TEST_P(Prepared, answers_are_those_of_single_questions) {
  const std::string file = fixture(GetParam());
  std::vector<std::uint64_t> sites = call_sites(file);
  const std::unique_ptr<LibdwSymbolizer> single = symbolizer_for(file);
  const std::unique_ptr<LibdwSymbolizer> prepared = symbolizer_for(file);
  std::shuffle(sites.begin(), sites.end(), std::mt19937(3));
  prepared->prepare(kModule, sites);
  for (const std::uint64_t site : sites) EXPECT_EQ(prepared->frames(kModule, site), single->frames(kModule, site));
}

TEST_P(Prepared, addresses_without_code_have_no_frames) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(fixture(GetParam()));
  const std::vector<std::uint64_t> nowhere{0, 1, UINT64_MAX, std::uint64_t{1} << 40, 1, 0};
  symbolizer->prepare(kModule, nowhere);
  symbolizer->prepare(ModuleId{7}, nowhere);
  for (const std::uint64_t address : nowhere) EXPECT_TRUE(symbolizer->frames(kModule, address).empty()) << address;
}

INSTANTIATE_TEST_SUITE_P(fixtures, Prepared,
                         ::testing::Values("dwarf4", "dwarf5", "clang", "lto", "compressed", "compressed_old", "dwz1",
                                           "nodebug"),
                         [](const auto& instance) { return std::string(instance.param); });

class Compressed : public ::testing::TestWithParam<const char*> {};

TEST_P(Compressed, debug_sections_change_no_frame) {
  const std::unique_ptr<LibdwSymbolizer> plain = symbolizer_for(fixture("dwarf5"));
  const std::unique_ptr<LibdwSymbolizer> compressed = symbolizer_for(fixture(GetParam()));
  std::size_t with_line = 0;
  for (const std::uint64_t site : call_sites(fixture("dwarf5"))) {
    const std::vector<SourceFrame> frames = compressed->frames(kModule, site);
    EXPECT_EQ(frames, plain->frames(kModule, site));
    with_line += !frames.empty() && frames[0].line != 0 ? 1 : 0;
  }
  EXPECT_GT(with_line, 50u);
}

INSTANTIATE_TEST_SUITE_P(fixtures, Compressed, ::testing::Values("compressed", "compressed_old", "compressed_zstd"),
                         [](const auto& instance) { return std::string(instance.param); });

/// Debug information that is closed when others need the memory opens again, with the same answers.
TEST(module_symbols, go_on_answering_after_they_were_closed) {
  for (const std::string name : {"dwarf4", "compressed", "dwz1"}) {
    const std::unique_ptr<LibdwSymbolizer> never_closed = symbolizer_for(fixture(name));
    ModuleSymbols module({fixture(name), UniqueFd(::open(fixture(name).c_str(), O_RDONLY | O_CLOEXEC)), "", false});
    EXPECT_EQ(module.open_bytes(), 0u);
    for (const std::uint64_t site : call_sites(fixture(name))) {
      EXPECT_EQ(module.frames(site), never_closed->frames(kModule, site));
      EXPECT_GT(module.open_bytes(), 0u);
      module.close();
      EXPECT_EQ(module.open_bytes(), 0u);
      EXPECT_TRUE(module.knows(site));
      EXPECT_EQ(module.frames(site), never_closed->frames(kModule, site));
      EXPECT_EQ(module.source(), SymbolSource::kDebugInfo);
    }
  }
}

TEST(libdw_symbolizer, names_functions_of_the_vdso) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = LibdwSymbolizer::make();
  Result<UniqueFd> vdso = copy_vdso();
  ASSERT_TRUE(vdso) << vdso.error().what;
  symbolizer->add_module(kModule, {"[vdso]", std::move(*vdso), "", true});
  EXPECT_NE(symbolizer->source(kModule), SymbolSource::kNone);
  std::set<std::string> names;
  for (std::uint64_t address = 0; address < 0x3000; ++address) {
    for (const SourceFrame& frame : symbolizer->frames(kModule, address)) names.insert(frame.function);
  }
  const bool has_clock = names.contains("clock_gettime") || names.contains("__vdso_clock_gettime") ||
                         names.contains("__kernel_clock_gettime");
  EXPECT_TRUE(has_clock);
}

/// Whatever the bytes say: an answer or none, and no crash. The sanitizers watch.
void ask_everywhere(const std::string& bytes, const std::vector<std::uint64_t>& sites) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = LibdwSymbolizer::make();
  symbolizer->add_module(kModule, {"/nowhere/program", deleted_file(bytes), "/proc/self/root", false});
  for (std::size_t i = 0; i < sites.size(); i += 3) symbolizer->frames(kModule, sites[i]);
  symbolizer->source(kModule);
}

TEST(libdw_symbolizer, survives_truncated_files) {
  const std::string bytes = bytes_of(fixture("dwarf5"));
  const std::vector<std::uint64_t> sites = call_sites(fixture("dwarf5"));
  for (std::size_t part = 0; part < 60; ++part) ask_everywhere(bytes.substr(0, bytes.size() * part / 60), sites);
}

class Damaged : public ::testing::TestWithParam<const char*> {};

TEST_P(Damaged, file_is_survived) {
  const std::string whole = bytes_of(fixture(GetParam()));
  const std::vector<std::uint64_t> sites = call_sites(fixture(GetParam()));
  Elf64_Ehdr header;
  std::memcpy(&header, whole.data(), sizeof header);
  std::mt19937 random(7);
  for (int round = 0; round < 100; ++round) {
    std::string bytes = whole;
    // A few bytes anywhere, and in every other round the section headers too: what libelf believes first.
    for (int i = 0; i < 1 + round; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    if (round % 2 == 0)
      bytes[header.e_shoff + random() % (bytes.size() - header.e_shoff)] = static_cast<char>(random());
    ask_everywhere(bytes, sites);
  }
}

INSTANTIATE_TEST_SUITE_P(fixtures, Damaged,
                         ::testing::Values("dwarf4", "dwarf5", "clang", "compressed", "compressed_old", "dwz1",
                                           "nodebug"),
                         [](const auto& instance) { return std::string(instance.param); });

/// A copy of the compressed fixture whose sections, all or those that are not used, say that they are of this size.
class Inflated : public ::testing::Test {
 protected:
  std::string with_claimed_size(std::uint64_t bytes, bool only_unused = false) const {
    const std::optional<ElfFile> file =
        ElfFile::open(UniqueFd(::open(fixture("compressed").c_str(), O_RDONLY | O_CLOEXEC)));
    std::ifstream in(fixture("compressed"), std::ios::binary);
    std::string content((std::istreambuf_iterator<char>(in)), {});
    Elf64_Ehdr header;
    std::memcpy(&header, content.data(), sizeof(header));
    for (std::size_t i = 0; i < header.e_shnum; ++i) {
      Elf64_Shdr section;
      std::memcpy(&section, content.data() + header.e_shoff + i * sizeof(section), sizeof(section));
      if ((section.sh_flags & SHF_COMPRESSED) == 0) continue;
      if (only_unused && debug_section(file->sections().name_of(section)) != DebugSection::kUnused) continue;
      std::memcpy(content.data() + section.sh_offset + offsetof(Elf64_Chdr, ch_size), &bytes, sizeof(bytes));
    }
    const std::string path = directory_.path("inflated");
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  ScratchDirectory directory_;
};

TEST_F(Inflated, SectionsBeyondMeasureAreNotReadAndThatIsSaid) {
  for (const std::uint64_t bytes : {std::uint64_t{200} << 20, std::uint64_t{7} << 30, std::uint64_t{1} << 63}) {
    const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(with_claimed_size(bytes));
    EXPECT_EQ(symbolizer->source(kModule), SymbolSource::kSymtab) << bytes;
    EXPECT_NE(symbolizer->gap(kModule).find("its debug information is not read"), std::string::npos) << bytes;
    for (const std::uint64_t site : call_sites(fixture("compressed"))) symbolizer->frames(kModule, site);
  }
  const std::unique_ptr<LibdwSymbolizer> sound = symbolizer_for(with_claimed_size(std::uint64_t{1} << 63, true));
  EXPECT_EQ(sound->source(kModule), SymbolSource::kDebugInfo);
  EXPECT_EQ(sound->gap(kModule), "");
}

TEST_F(Inflated, SectionsThatCannotBeDecompressedAreNotReadAndThatIsSaid) {
  const std::unique_ptr<LibdwSymbolizer> symbolizer = symbolizer_for(with_claimed_size(std::uint64_t{1} << 20));
  EXPECT_EQ(symbolizer->source(kModule), SymbolSource::kSymtab);
  EXPECT_EQ(symbolizer->gap(kModule), "its debug information is not read: it is damaged");
}

}  // namespace
}  // namespace hawk

// Debug information made to harm its reader, and what may lie under the name of a debug file: the numbers stay exact,
// the report is written, and names the file that has no names for that.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>

#include "tests/kernel/harness/compare.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/recorder.h"
#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

constexpr Way kOneWay[] = {Way::kSessionArena};

/// Little-endian bytes of DWARF.
class Bytes {
 public:
  Bytes& number(std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) text_.push_back(static_cast<char>(value >> (8 * i)));
    return *this;
  }
  Bytes& uleb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) number((value & 0x7f) | 0x80, 1);
    return number(value, 1);
  }
  /// An abbreviation: its code, the tag, whether it has children, pairs of attribute and form.
  Bytes& abbreviation(std::uint64_t code, std::uint64_t tag, bool has_children,
                      std::initializer_list<std::uint64_t> attributes) {
    uleb(code).uleb(tag).number(has_children ? 1 : 0, 1);
    for (const std::uint64_t word : attributes) uleb(word);
    return number(0, 2);
  }
  std::size_t size() const { return text_.size(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum Code : std::uint64_t { kUnit = 1, kFunction, kAbstract, kSpecification, kInlined, kImport, kBlock };

Bytes abbreviations() {
  constexpr std::uint64_t kLowPc = 0x11, kHighPc = 0x12, kAddress = 0x01, kData8 = 0x07, kRef4 = 0x13;
  Bytes bytes;
  bytes.abbreviation(kUnit, 0x11, true, {kLowPc, kAddress, kHighPc, kData8});
  bytes.abbreviation(kFunction, 0x2e, true, {kLowPc, kAddress, kHighPc, kData8, 0x31, kRef4});
  bytes.abbreviation(kAbstract, 0x2e, false, {0x31, kRef4});
  bytes.abbreviation(kSpecification, 0x2e, false, {0x47, kRef4});
  bytes.abbreviation(kInlined, 0x1d, true, {kLowPc, kAddress, kHighPc, kData8, 0x31, kRef4});
  bytes.abbreviation(kImport, 0x3d, false, {0x18, kRef4});
  bytes.abbreviation(kBlock, 0x34, false, {0x02, 0x09});
  return bytes.number(0, 1);
}

constexpr std::uint64_t kAllCode = std::uint64_t{1} << 40;
constexpr std::size_t kHeaderBytes = 11;

/// A unit of DWARF 4 that claims all code of its file. `length`: 0, or what it says of its own instead of the truth.
std::string unit_of(const Bytes& entries, std::uint64_t length) {
  Bytes all;
  all.number(kUnit, 1).number(0, 8).number(kAllCode, 8);
  Bytes header;
  const std::size_t bytes = kHeaderBytes - 4 + all.size() + entries.size() + 1;
  if (length == 0) header.number(bytes, 4);
  if (length != 0) header.number(0xffffffff, 4).number(length, 8);
  header.number(4, 2).number(0, length == 0 ? 4 : 8).number(8, 1);
  return header.text() + all.text() + entries.text() + std::string(1, '\0');
}

/// The offset in the unit of what is appended to `entries` next.
std::uint64_t next_offset(const Bytes& entries) { return kHeaderBytes + 17 + entries.size(); }

/// Functions that are instances of themselves and of each other, and a unit that imports itself.
std::string cycles() {
  Bytes entries;
  entries.number(kImport, 1).number(kHeaderBytes, 4);
  const std::uint64_t first = next_offset(entries);
  entries.number(kAbstract, 1).number(first + 5, 4);
  entries.number(kSpecification, 1).number(first, 4);
  const std::uint64_t function = next_offset(entries);
  entries.number(kFunction, 1).number(0, 8).number(kAllCode, 8).number(function, 4);
  entries.number(kInlined, 1).number(0, 8).number(kAllCode, 8).number(first, 4);
  entries.number(kInlined, 1).number(0, 8).number(kAllCode, 8).number(function, 4);
  entries.number(0, 3);
  return unit_of(entries, 0);
}

/// An entry inside another, and so on, many thousand deep.
std::string endless_nesting() {
  Bytes entries;
  for (int depth = 0; depth < 500'000; ++depth) {
    entries.number(kInlined, 1).number(0, 8).number(kAllCode, 8).number(kHeaderBytes, 4);
  }
  return unit_of(entries, 0);
}

/// A value of 2^63 bytes before a function.
std::string huge_block() {
  Bytes entries;
  entries.number(kBlock, 1).uleb(std::uint64_t{1} << 63);
  entries.number(kFunction, 1).number(0, 8).number(std::uint64_t{1} << 63, 8).number(kHeaderBytes, 4).number(0, 1);
  return unit_of(entries, 0);
}

std::string huge_unit() { return unit_of({}, std::uint64_t{1} << 63); }

/// A ledger program whose debug information is `information` alone.
std::string program_with(const std::string& information, const ScratchDirectory& directory, bool has_symbols) {
  std::filesystem::copy_file(ledger_path("realloc_moves"), directory.path("program"));
  output_of({"strip", "--strip-debug", directory.path("program")});
  write_file(directory.path("info"), information);
  write_file(directory.path("abbreviations"), abbreviations().text());
  output_of({"objcopy", "--add-section", ".debug_info=" + directory.path("info"), "--add-section",
             ".debug_abbrev=" + directory.path("abbreviations"), directory.path("program")});
  if (!has_symbols) {
    output_of({"strip", "--keep-section=.debug_info", "--keep-section=.debug_abbrev", directory.path("program")});
  }
  return directory.path("program");
}

/// That the report for people says whose names are missing, and that nothing else is.
void expect_named_gap(const ScratchDirectory& directory) {
  const std::string program = directory.path("program"), report = directory.path("report");
  record_ledger(program, directory.path("heap.hawk"), {"--report", report});
  const std::string text = content_of(report);
  EXPECT_NE(text.find("missing symbols\n  " + program + ": "), std::string::npos) << text;
  EXPECT_NE(text.find("nothing was missed: every number above is exact"), std::string::npos) << text;
}

void trace_debug_information(Way way, const std::string& information) {
  {
    const ScratchDirectory directory;
    LedgerProgram program({.program = program_with(information, directory, true)});
    Trace trace = Trace::attach(program.pid(), way);
    const Ledger ledger = program.run();
    expect_equal(trace.finish(), ledger);
  }
  const ScratchDirectory directory;
  program_with(information, directory, false);
  expect_named_gap(directory);
}

KERNEL_TEST_ON(hostile_debug_files, entries_that_refer_to_themselves, kOneWay) {
  const ScratchDirectory directory;
  const std::string entries = output_of({"readelf", "--debug-dump=info", program_with(cycles(), directory, true)});
  EXPECT_NE(entries.find("DW_AT_abstract_origin"), std::string::npos) << "they can be read:\n" << entries;
  trace_debug_information(way, cycles());
}

KERNEL_TEST_ON(hostile_debug_files, entries_nested_without_end, kOneWay) {
  trace_debug_information(way, endless_nesting());
}

KERNEL_TEST_ON(hostile_debug_files, values_of_half_the_address_space, kOneWay) {
  trace_debug_information(way, huge_block());
  trace_debug_information(way, huge_unit());
}

/// Neither opened for reading nor waited for.
KERNEL_TEST_ON(hostile_debug_files, pipes_devices_and_links_under_their_names, kOneWay) {
  const dev_t zeros = makedev(1, 5);
  const auto put = [&](int kind, const std::string& path) {
    std::filesystem::remove_all(path);
    switch (kind) {
      case 0:
        return ::mkfifo(path.c_str(), 0600) == 0;
      case 1:
        return ::mknod(path.c_str(), S_IFCHR | 0600, zeros) == 0;
      case 2:
        return ::symlink("/dev/zero", path.c_str()) == 0;
      default:
        return std::filesystem::create_directory(path);
    }
  };
  for (int kind = 0; kind < 4; ++kind) {
    const ScratchDirectory directory;
    const std::string program = directory.path("program"), debug = directory.path("program.debug");
    std::filesystem::copy_file(ledger_path("realloc_moves"), program);
    output_of({"objcopy", "--only-keep-debug", program, debug});
    output_of({"strip", "--remove-section=.note.gnu.build-id", program});
    output_of({"objcopy", "--add-gnu-debuglink=" + debug, program});
    ASSERT_TRUE(put(kind, debug)) << kind;
    expect_named_gap(directory);
  }
}

}  // namespace
}  // namespace hawk

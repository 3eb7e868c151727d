/// What is decided about Debian's own libraries, checked against binutils: nothing here uses our decoder.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/operator_frames.h"

namespace hawk {
namespace {

const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";

struct Line {
  std::uint64_t vaddr = 0;
  std::string text;  ///< "push   %rbx"
};

/// objdump's view of [start, end).
std::vector<Line> disassemble(const std::string& path, std::uint64_t start, std::uint64_t end) {
  std::ostringstream command;
  command << "objdump -d --no-show-raw-insn --start-address=" << start << " --stop-address=" << end << " " << path;
  static const std::regex kLine("^ *([0-9a-f]+):\\s+(.*)$");
  std::vector<Line> lines;
  std::istringstream text(testing::output_of(command.str()));
  for (std::string line; std::getline(text, line);) {
    std::smatch match;
    if (std::regex_match(line, match, kLine)) lines.push_back({std::stoull(match[1], nullptr, 16), match[2]});
  }
  return lines;
}

/// By opcode bytes, as arch/x86/kernel/uprobes.c does.
bool is_emulated(std::span<const std::uint8_t> code) {
  if (code[0] == 0x41) return code[1] >= 0x50 && code[1] <= 0x57;
  if (code[0] == 0x0f) return code[1] >= 0x80 && code[1] <= 0x8f;
  const bool is_push = code[0] >= 0x50 && code[0] <= 0x57 && code[0] != 0x54;
  const bool is_short_branch = code[0] >= 0x70 && code[0] <= 0x7f;
  return is_push || is_short_branch || code[0] == 0x90 || code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb;
}

/// In AT&T order the last operand is written, except by comparisons.
bool writes_any_of(const std::string& text, const std::set<std::string>& registers) {
  if (text.starts_with("cmp") || text.starts_with("test") || text.starts_with("endbr64") || text.starts_with("nop")) {
    return false;
  }
  const std::size_t last = text.find_last_of(" ,");
  return registers.contains(text.substr(last + 1));
}

/// Other than on the stack.
bool writes_memory(const std::string& text) {
  const bool only_reads = text.starts_with("cmp") || text.starts_with("test") || text.starts_with("push");
  return !only_reads && text.ends_with(")") && !text.ends_with("(%rsp)");
}

const std::set<std::string> kFirstArgument = {"%rdi", "%edi", "%di", "%dil"};
const std::set<std::string> kFirstTwoArguments = {"%rdi", "%edi", "%di", "%dil", "%rsi", "%esi", "%si", "%sil"};
const std::set<std::string> kStack = {"%rsp", "%rbp", "%ebp", "%bp", "%bpl"};

class SystemAllocator : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string path = kLibraries + GetParam();
  const ElfImage image = testing::open_image(path);
  const AllocatorFile file = find_allocator_functions(image);
};

INSTANTIATE_TEST_SUITE_P(Debian, SystemAllocator,
                         ::testing::Values("libc.so.6", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

TEST_P(SystemAllocator, ProbesSeeWhatTheCallerPassed) {
  for (const AllocatorFunction& function : file.functions) {
    const std::string name = function.names.back();
    const std::uint64_t entry = *image.vaddr_of(function.entry_offset);
    const std::uint64_t probe = *image.vaddr_of(function.probe_offset);
    ASSERT_GE(probe, entry) << name;
    const std::vector<Line> lines = disassemble(path, entry, probe + 1);
    ASSERT_FALSE(lines.empty()) << name;
    EXPECT_EQ(lines.back().vaddr, probe) << name << ": not at the start of an instruction";
    EXPECT_EQ(function.single_stepped, !is_emulated(image.code_at(probe, 2))) << name;
    const bool one_argument = function.kind == HAWK_CALL_FREE || function.kind == HAWK_CALL_MALLOC;
    const bool has_frame = function.frame != CallerFrame();
    EXPECT_TRUE(!has_frame || function.kind == HAWK_CALL_FREE) << name;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      EXPECT_FALSE(writes_any_of(lines[i].text, one_argument ? kFirstArgument : kFirstTwoArguments))
          << name << ": " << lines[i].text;
      EXPECT_TRUE(has_frame || !writes_any_of(lines[i].text, kStack)) << name << ": " << lines[i].text;
      EXPECT_FALSE(function.kind == HAWK_CALL_FREE && writes_memory(lines[i].text)) << name << ": " << lines[i].text;
      const bool skips_null = function.kind == HAWK_CALL_FREE && lines[i].text.starts_with("je") &&
                              (has_frame ? i == 1 : i + 2 == lines.size());
      EXPECT_TRUE(skips_null || lines[i].text.find_first_of("jc") != 0 || lines[i].text.starts_with("cmp"))
          << name << ": " << lines[i].text;
    }
  }
}

TEST_P(SystemAllocator, BusyFunctionsAreNotSingleStepped) {
  const std::set<std::string> busy = {"malloc", "free", "calloc", "realloc", "_Znwm", "_ZdlPvm"};
  int seen = 0;
  for (const AllocatorFunction& function : file.functions) {
    for (const std::string& name : function.names) {
      if (!busy.contains(name)) continue;
      ++seen;
      EXPECT_FALSE(function.single_stepped) << name;
    }
  }
  EXPECT_GE(seen, 4);
  EXPECT_TRUE(file.unprobed.empty());
}

TEST_P(SystemAllocator, ReturnOffsetsAreReturns) {
  for (const AllocatorFunction& function : file.functions) {
    EXPECT_EQ(function.may_throw, !function.return_offsets.empty() || !function.return_points.empty());
    for (const std::uint64_t offset : function.return_offsets) {
      const std::uint64_t vaddr = *image.vaddr_of(offset);
      EXPECT_EQ(disassemble(path, vaddr, vaddr + 1).back().text, "ret");
    }
  }
}

std::map<std::string, const AllocatorFunction*> by_name(const AllocatorFile& file) {
  std::map<std::string, const AllocatorFunction*> functions;
  for (const AllocatorFunction& function : file.functions) {
    for (const std::string& name : function.names) functions[name] = &function;
  }
  return functions;
}

TEST(SystemJemalloc, WrappersAreLeftToWhatTheyWrap) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(kLibraries + "libjemalloc.so.2"));
  const auto functions = by_name(file);
  for (const char* wrapper : {"_ZdlPv", "_Znam", "_ZnwmSt11align_val_t", "_ZdlPvmSt11align_val_t"}) {
    EXPECT_FALSE(functions.contains(wrapper)) << wrapper;
  }
  for (const char* probed : {"_Znwm", "_ZnwmRKSt9nothrow_t", "_ZdlPvm", "_ZdaPvm", "mallocx", "sdallocx"}) {
    EXPECT_TRUE(functions.contains(probed)) << probed;
  }
  EXPECT_GE(functions.at("_Znwm")->return_offsets.size(), 2u);
}

/// The busy path of operator new must not be single-stepped at its end either.
TEST_P(SystemAllocator, BusyReturnsAreNotSingleStepped) {
  for (const AllocatorFunction& function : file.functions) {
    if (!function.may_throw) continue;
    EXPECT_FALSE(function.return_points.empty()) << function.names.front();
    for (const ReturnPointAt& at : function.return_points) {
      EXPECT_EQ(*image.vaddr_of(at.file_offset), at.point.vaddr);
      EXPECT_GT(at.file_offset, function.probe_offset) << function.names.front();
    }
  }
}

TEST(SystemTcmalloc, OperatorsAreFunctionsOfTheirOwn) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(kLibraries + "libtcmalloc_minimal.so.4"));
  const auto functions = by_name(file);
  EXPECT_EQ(functions.at("free"), functions.at("_ZdlPv"));
  EXPECT_EQ(functions.at("_Znwm"), functions.at("_Znam"));
  EXPECT_NE(functions.at("_Znwm"), functions.at("malloc"));
  EXPECT_GE(functions.at("_Znwm")->return_offsets.size(), 2u);
}

TEST(SystemLibrary, TheDynamicLinkerAndTheCxxRuntimeAreNoAllocators) {
  for (const char* name : {"ld-linux-x86-64.so.2", "libstdc++.so.6"}) {
    EXPECT_TRUE(find_allocator_functions(testing::open_image(kLibraries + name)).functions.empty()) << name;
  }
}

/// One row of readelf's interpreted .eh_frame: what holds from an address on.
struct FrameRow {
  std::string cfa;  ///< "rsp+16"
  std::string rbp;  ///< "c-16", "u", or empty when the function never saves it
};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::map<std::uint64_t, FrameRow> frame_rows(const std::string& path) {
  std::map<std::uint64_t, FrameRow> rows;
  std::vector<std::string> columns;
  std::istringstream text(testing::output_of("readelf --debug-dump=frames-interp " + path + " 2>/dev/null; true"));
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() > 1 && words[0] == "LOC") columns = words;
    if (words.empty() || words[0].size() != 16 || columns.empty() || words.size() != columns.size()) continue;
    if (words[0].find_first_not_of("0123456789abcdef") != std::string::npos) continue;
    FrameRow row{words[1], ""};
    const auto rbp = std::find(columns.begin(), columns.end(), "rbp");
    if (rbp != columns.end()) row.rbp = words[static_cast<std::size_t>(rbp - columns.begin())];
    rows[std::stoull(words[0], nullptr, 16)] = row;
  }
  return rows;
}

/// What the programs take for the caller's frame of a free is what unwinders do.
TEST_P(SystemAllocator, FramesOfFreesAreThoseOfEhFrame) {
  const std::map<std::uint64_t, FrameRow> rows = frame_rows(path);
  ASSERT_GT(rows.size(), 100u);
  for (const AllocatorFunction& function : file.functions) {
    const std::uint32_t words = function.frame.slot_words;
    const auto& [from, row] = *std::prev(rows.upper_bound(*image.vaddr_of(function.probe_offset)));
    // A function that changes nothing has no row.
    if (function.kind != HAWK_CALL_FREE || (words == 0 && from < *image.vaddr_of(function.entry_offset))) continue;
    EXPECT_EQ(row.cfa, "rsp+" + std::to_string(8 * (words + 1))) << function.names.front();
    // A row tells where rbp has been saved even before it is changed.
    if (!function.frame.saved_rbp_words) continue;
    EXPECT_EQ(row.rbp, "c-" + std::to_string(8 * (words + 1 - *function.frame.saved_rbp_words)))
        << function.names.front();
  }
}

TEST(SystemLibc, FreeIsProbedOnABranch) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(kLibraries + "libc.so.6"));
  const AllocatorFunction& function = *by_name(file).at("free");
  EXPECT_EQ(function.instruction, "jnz");
  EXPECT_EQ(function.frame, (CallerFrame{.slot_words = 5, .saved_rbp_words = 4}));
}

class SystemFrames : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Debian, SystemFrames,
                         ::testing::Values("libstdc++.so.6", "libjemalloc.so.2", "libtcmalloc_minimal.so.4"),
                         [](const auto& instance) { return "Library" + std::to_string(instance.index); });

void expect_rules_of_eh_frame(const std::string& path) {
  const std::optional<OperatorFrames> frames = find_operator_frames(testing::open_image(path));
  ASSERT_TRUE(frames);
  const std::map<std::uint64_t, FrameRow> rows = frame_rows(path);
  ASSERT_GT(rows.size(), 100u);
  for (const CallSiteRule& rule : frames->call_sites) {
    // Unwinders look one byte back: the address after a call may belong to the next row.
    const FrameRow& row = std::prev(rows.lower_bound(rule.return_vaddr))->second;
    std::ostringstream where;
    where << std::hex << rule.return_vaddr;
    EXPECT_EQ(row.cfa, "rsp+" + std::to_string(rule.cfa_offset_bytes)) << where.str();
    if (rule.saved_rbp_offset_bytes) {
      EXPECT_EQ(row.rbp, "c-" + std::to_string(rule.cfa_offset_bytes - *rule.saved_rbp_offset_bytes)) << where.str();
    } else {
      EXPECT_TRUE(row.rbp.empty() || row.rbp == "u") << where.str() << " " << row.rbp;
    }
  }
}

TEST_P(SystemFrames, RulesAreThoseOfEhFrame) { expect_rules_of_eh_frame(kLibraries + GetParam()); }

TEST(SystemFramesOfStaticProgram, RulesAreThoseOfEhFrame) {
  expect_rules_of_eh_frame(testing::fixture_path("static_operators"));
}

TEST(SystemFramesOfStaticProgram, NoRuleOutsideOfOperators) {
  const std::string path = testing::fixture_path("static_operators");
  const std::optional<OperatorFrames> frames = find_operator_frames(testing::open_image(path));
  ASSERT_TRUE(frames);
  for (const CallSiteRule& rule : frames->call_sites) {
    std::ostringstream command;
    command << "objdump -d --start-address=" << rule.return_vaddr - 5 << " --stop-address=" << rule.return_vaddr << " "
            << path << " | grep '>:$'";
    const std::string label = testing::output_of(command.str());
    EXPECT_NE(label.find("<_Zn"), std::string::npos) << label;
  }
}

TEST(SystemFramesOfLibstdcxx, NoCallIsMissing) {
  const std::string path = kLibraries + "libstdc++.so.6";
  const ElfImage image = testing::open_image(path);
  const std::optional<OperatorFrames> frames = find_operator_frames(image);
  ASSERT_TRUE(frames);
  std::set<std::uint64_t> known;
  for (const CallSiteRule& rule : frames->call_sites) known.insert(rule.return_vaddr);
  int calls = 0;
  for (const char* name : {"_Znwm", "_ZnwmSt11align_val_t", "_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t",
                           "_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_tRKSt9nothrow_t"}) {
    const FunctionExtent function = testing::extent_of(image, name);
    const std::vector<Line> lines = disassemble(path, function.vaddr, function.vaddr + function.size_bytes);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      static const std::regex kAllocates("call .*<(malloc|aligned_alloc|_Zn[wa].*)@plt>");
      if (!std::regex_match(lines[i].text, kAllocates)) continue;
      ++calls;
      EXPECT_TRUE(known.contains(lines[i + 1].vaddr)) << name << ": " << lines[i].text;
    }
  }
  EXPECT_GE(calls, 5);
}

}  // namespace
}  // namespace hawk

/// The claims of YieldPlan on allocators whose code has been changed: what can no longer be proved has no plan, and
/// what has one is seen as it happens. The same changes are made in a file, which the analysis reads, and in a process,
/// whose calls are stepped through.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <ostream>

#include "tests/stepping/mutants.h"
#include "tests/stepping/plan_text.h"
#include "tests/stepping/stepped_program.h"
#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"
#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {
namespace {

const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";
constexpr std::size_t kMostSteps = 60'000;

struct Target {
  std::string name;
  std::string file;  ///< with the allocator
  std::string function;
  int mutants = 8;  ///< each takes longer where the file is large
  bool is_preloaded = false;
};

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

/// A file with an allocator, and programs that use a copy of it.
class ChangedAllocator {
 public:
  explicit ChangedAllocator(const Target& target)
      : target_(target),
        file_(directory_.path(std::filesystem::path(target.file).filename())),
        bytes_(testing::bytes_of_file(target.file)) {
    std::filesystem::copy_file(target.file, file_);
    file_ = std::filesystem::canonical(file_);
  }

  AllocatorFile analyze(const std::vector<testing::CodeChange>& changes) const {
    std::vector<std::uint8_t> bytes = bytes_;
    for (const testing::CodeChange& change : changes) {
      std::copy(change.bytes.begin(), change.bytes.end(),
                bytes.begin() + static_cast<std::ptrdiff_t>(change.file_offset));
    }
    const Result<ElfImage> image = testing::image_of_bytes(bytes);
    return image ? find_allocator_functions(*image, Plans::kMade) : AllocatorFile{};
  }

  /// nullptr: the file has no such function any more.
  static const AllocatorFunction* find(const AllocatorFile& file, const std::string& name) {
    const auto found = std::find_if(file.functions.begin(), file.functions.end(), [&](const AllocatorFunction& each) {
      return std::find(each.names.begin(), each.names.end(), name) != each.names.end();
    });
    return found == file.functions.end() ? nullptr : &*found;
  }

  testing::Stepped step(const AllocatorFile& plans, const std::vector<testing::CodeChange>& changes) const {
    std::vector<std::string> environment = {"LD_LIBRARY_PATH=" + directory_.path()};
    if (target_.is_preloaded) environment.push_back("LD_PRELOAD=" + file_);
    return testing::step_through({HAWK_ONE_FUNCTION, target_.function}, environment, file_, plans,
                                 {.changes = changes, .most_steps = kMostSteps});
  }

 private:
  const Target target_;
  const ScratchDirectory directory_;
  std::string file_;
  const std::vector<std::uint8_t> bytes_;
};

/// More can be asked for by hand.
int number_from(const char* variable, int otherwise) {
  const char* wanted = std::getenv(variable);
  return wanted == nullptr ? otherwise : std::atoi(wanted);
}

class Mutations : public ::testing::TestWithParam<Target> {};

TEST_P(Mutations, AreSeenAsTheyHappenOrHaveNoPlan) {
  const Target& target = GetParam();
  const ChangedAllocator allocator(target);
  const ElfImage image = testing::open_image(target.file);
  const int mutants = number_from("HAWK_MUTANTS", target.mutants), seed = number_from("HAWK_MUTATION_SEED", 1);
  testing::Mutator mutator(image, testing::extent_of(image, target.function), static_cast<std::uint32_t>(seed));
  std::size_t kept = 0, calls = 0;
  for (int i = 0; i < mutants; ++i) {
    const testing::Mutant mutant = mutator.next();
    const std::vector<testing::CodeChange> changes = {{mutant.file_offset, mutant.bytes}};
    const AllocatorFile plans = allocator.analyze(changes);
    const AllocatorFunction* function = ChangedAllocator::find(plans, target.function);
    if (function == nullptr || function->yields.points.empty()) continue;
    ++kept;
    const testing::Stepped shown = allocator.step(plans, changes);
    calls += shown.calls;
    for (const std::string& wrong : shown.wrong) ADD_FAILURE() << mutant.text << ": " << wrong;
    if (!shown.wrong.empty()) printf("%s\n%s", mutant.text.c_str(), testing::plan_text(*function).c_str());
  }
  printf("%d mutants, %zu with a plan, %zu calls\n", mutants, kept, calls);
  EXPECT_GT(calls, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Allocators, Mutations,
    ::testing::Values(Target{.name = "malloc", .file = kLibraries + "libc.so.6", .function = "malloc"},
                      Target{.name = "calloc", .file = kLibraries + "libc.so.6", .function = "calloc"},
                      Target{.name = "realloc", .file = kLibraries + "libc.so.6", .function = "realloc"},
                      Target{.name = "jemalloc_malloc",
                             .file = kLibraries + "libjemalloc.so.2",
                             .function = "malloc",
                             .mutants = 2,
                             .is_preloaded = true},
                      Target{.name = "tcmalloc_malloc",
                             .file = kLibraries + "libtcmalloc_minimal.so.4",
                             .function = "malloc",
                             .is_preloaded = true},
                      Target{.name = "mimalloc_malloc",
                             .file = kLibraries + "libmimalloc.so.2.0",
                             .function = "malloc",
                             .mutants = 4,
                             .is_preloaded = true}),
    [](const auto& each) { return each.param.name; });

/// The instruction that keeps the size in the register in which a point finds it: left out.
testing::CodeChange forgets_size(const ElfImage& image, FunctionExtent function, ZydisRegister holder) {
  constexpr std::uint8_t kNop = 0x90;
  for (std::uint64_t vaddr = function.vaddr; vaddr < function.vaddr + function.size_bytes;) {
    const std::optional<Instruction> found = decode_at(image, vaddr);
    if (!found) break;
    if (found->decoded.mnemonic == ZYDIS_MNEMONIC_MOV && found->is_register(0, holder) &&
        found->is_register(1, ZYDIS_REGISTER_RDI)) {
      return {image.file_offset_of(vaddr).value(), std::vector<std::uint8_t>(found->decoded.length, kNop)};
    }
    vaddr = found->next_vaddr();
  }
  ADD_FAILURE() << "the size is kept otherwise";
  return {};
}

/// Such a change is seen by stepping, and so by the test above.
TEST(MutationsOfOneRegister, WithoutItsSizeAPointIsNone) {
  const Target target = {.name = "malloc", .file = kLibraries + "libc.so.6", .function = "malloc"};
  const ChangedAllocator allocator(target);
  const AllocatorFile original = allocator.analyze({});
  const AllocatorFunction* unchanged = ChangedAllocator::find(original, target.function);
  ASSERT_NE(unchanged, nullptr);
  const std::vector<YieldPoint>& points = unchanged->yields.points;
  const auto point = std::find_if(points.begin(), points.end(), [](const YieldPoint& each) {
    return each.kind == PointKind::kYield && each.size.kind == Operand::Kind::kRegister && !each.called_by;
  });
  ASSERT_NE(point, points.end());
  const ElfImage image = testing::open_image(target.file);
  const std::vector<testing::CodeChange> changes = {
      forgets_size(image, testing::extent_of(image, target.function), kGeneralRegisters.at(point->size.index))};
  EXPECT_FALSE(allocator.step(original, changes).wrong.empty()) << "the points of the unchanged code";
  const AllocatorFile plans = allocator.analyze(changes);
  const AllocatorFunction* changed = ChangedAllocator::find(plans, target.function);
  ASSERT_NE(changed, nullptr);
  EXPECT_NE(changed->yields.points, points);
  const testing::Stepped shown = allocator.step(plans, changes);
  EXPECT_GT(shown.calls, 0u);
  EXPECT_TRUE(shown.wrong.empty()) << shown.wrong.front();
}

/// From code that is not the function's, to one instruction after another.
TEST(MutationsOfOtherCode, AJumpIntoTheMiddleEndsThePlan) {
  const Target target = {.name = "malloc", .file = kLibraries + "libc.so.6", .function = "malloc"};
  const ChangedAllocator allocator(target);
  const ElfImage image = testing::open_image(target.file);
  const FunctionExtent function = testing::extent_of(image, target.function);
  const std::uint64_t from = testing::extent_of(image, "mallopt").vaddr;
  for (std::uint64_t distance = 4; distance < function.size_bytes; distance += function.size_bytes / 5) {
    const auto relative = static_cast<std::int32_t>(function.vaddr + distance - (from + 5));
    std::vector<std::uint8_t> jump = {0xe9, 0, 0, 0, 0};
    std::memcpy(jump.data() + 1, &relative, 4);
    const AllocatorFile plans = allocator.analyze({{image.file_offset_of(from).value(), jump}});
    const AllocatorFunction* found = ChangedAllocator::find(plans, target.function);
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(found->yields.points.empty()) << distance << "\n" << testing::plan_text(*found);
    EXPECT_EQ(found->yields.fallback, "other code jumps into its middle") << distance;
  }
}

/// Another function's symbol is moved there: who has its address calls it.
TEST(MutationsOfSymbols, AFunctionInTheMiddleEndsThePlan) {
  const Target target = {.name = "malloc", .file = kLibraries + "libc.so.6", .function = "malloc"};
  const ChangedAllocator allocator(target);
  const ElfImage image = testing::open_image(target.file);
  const FunctionExtent function = testing::extent_of(image, target.function);
  const std::uint64_t other = testing::extent_of(image, "mallopt").vaddr;
  const std::vector<std::uint8_t> bytes = testing::bytes_of_file(target.file);
  // Of the dynamic symbols, which begin the file, the one that has this address.
  constexpr std::uint64_t kAtVaddr = offsetof(Elf64_Sym, st_value);
  std::optional<std::uint64_t> symbol;
  for (std::uint64_t at = 0; !symbol && at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(std::uint64_t)) {
    Elf64_Sym read = {};
    std::memcpy(&read, bytes.data() + at, sizeof(read));
    if (read.st_value == other && ELF64_ST_TYPE(read.st_info) == STT_FUNC) symbol = at;
  }
  ASSERT_TRUE(symbol);
  for (const std::uint64_t distance : {std::uint64_t{1}, function.size_bytes / 2, function.size_bytes - 1}) {
    std::vector<std::uint8_t> vaddr(sizeof(std::uint64_t));
    const std::uint64_t middle = function.vaddr + distance;
    std::memcpy(vaddr.data(), &middle, sizeof(middle));
    const AllocatorFile plans = allocator.analyze({{*symbol + kAtVaddr, vaddr}});
    const AllocatorFunction* found = ChangedAllocator::find(plans, target.function);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->yields.fallback, "another function begins in its middle") << distance;
  }
}

}  // namespace
}  // namespace hawk

/// Whether all that the installed allocators export is known: to be followed, to be counted, or to leave blocks alone.
#include "userspace/code/allocator_catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "tests/support/elf_fixture.h"
#include "userspace/code/allocator_functions.h"

namespace hawk {
namespace {

const std::string kLibraries = "/usr/lib/x86_64-linux-gnu/";

std::set<std::string> exported_by(const std::string& path) {
  std::set<std::string> names;
  for (const ElfFunction& function : testing::open_image(path).public_functions("")) names.insert(function.name);
  return names;
}

/// Everything that a library which is nothing but an allocator exports, but for hooks, statistics, profilers and C++
/// that is not for its users.
class AllocatorLibrary : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Installed, AllocatorLibrary,
                         ::testing::Values("libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc.so.4",
                                           "libtcmalloc_debug.so.4", "libtcmalloc_minimal.so.4",
                                           "libtcmalloc_minimal_debug.so.4"),
                         [](const auto& instance) {
                           const std::string name = instance.param;
                           return name.substr(0, name.find('.'));
                         });

bool is_no_interface_for_blocks(const std::string& name) {
  static const std::regex kOthers(
      "(MallocExtension|MallocHook|HeapProfiler|HeapLeakChecker|HeapProfile|Profiler|Profiling|IsHeapProfiler|GetHeap)_"
      "?.*|"
      "_init|_fini|TCMallocGetenvSafe|TCMalloc_(ListAll|ResumeAll)ProcessThreads|RunningOnValgrind|mallinfo2?|mallopt|"
      "malloc_stats|mmap(64)?|munmap|mremap|sbrk|"
      "_Z(N|T|Z|G|Kn|Ks|St)?(?!n[wa]|d[la]).*");
  return std::regex_match(name, kOthers);
}

TEST_P(AllocatorLibrary, ExportsNothingThatIsUnknown) {
  const std::set<std::string> names = exported_by(kLibraries + GetParam());
  EXPECT_TRUE(names.contains("malloc"));
  for (const std::string& name : names) {
    EXPECT_TRUE(find_in_catalogue(name) || leaves_blocks_alone(name) || is_no_interface_for_blocks(name) ||
                name == "mi_heap_destroy" ||
                std::regex_match(name, std::regex("mi_.*(wcsdup|mbsdup|realpath|dupenv_s|reallocarr)")))
        << name;
  }
}

TEST_P(AllocatorLibrary, HasAllThatIsNotKnownToBeHarmlessFollowedOrCounted) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(kLibraries + GetParam()));
  for (const UnprobedFunction& function : file.unprobed) ADD_FAILURE() << function.name << ": " << function.reason;
  for (const AllocatorFunction& function : file.unfollowed) {
    for (const std::string& name : function.names) EXPECT_FALSE(leaves_blocks_alone(name)) << name;
  }
}

/// A C library exports much else; of what sounds as if it were about blocks, these call its own malloc and free, which
/// are seen, or have to do with other things.
class CLibrary : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Installed, CLibrary,
                         ::testing::Values("/usr/lib/x86_64-linux-gnu/libc.so.6", "/lib/ld-musl-x86_64.so.1",
                                           "/usr/lib/x86_64-linux-gnu/libc_malloc_debug.so.0"),
                         [](const auto& instance) {
                           std::string name = std::filesystem::path(instance.param).stem().stem();
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

TEST_P(CLibrary, HasNoOtherFunctionsForBlocks) {
  static const std::regex kAboutBlocks(".*(alloc|free|memalign).*");
  static const std::regex kOthers(
      ".*_(doallocate|w?doallocbuf|free_w?backup_area)|_?obstack_.*|__libc_(alloc_buffer_.*|alloca_cutoff|allocate_.*)|"
      "__libc_(freeres|scratch_buffer_dupfree)|__sched_cpu(alloc|free)|(posix_)?fallocate(64)?|pkey_(alloc|free)|"
      "(free(addrinfo|ifaddrs)|(__)?freelocale|globfree(64)?|if_freenameindex|regfree|wordfree|xdr_free)|"
      "inet6_option_alloc|malloc_(info|stats|trim|usable_size|get_state|set_state)");
  const std::set<std::string> names = exported_by(GetParam());
  EXPECT_TRUE(names.contains("malloc"));
  for (const std::string& name : names) {
    if (!std::regex_match(name, kAboutBlocks)) continue;
    EXPECT_TRUE(find_in_catalogue(name) || std::regex_match(name, kOthers)) << name;
  }
}

std::set<std::string> names_of(const std::vector<AllocatorFunction>& functions) {
  std::set<std::string> names;
  for (const AllocatorFunction& function : functions) names.insert(function.names.begin(), function.names.end());
  return names;
}

TEST(Mimalloc, WrappersAreLeftToWhatTheyCall) {
  const AllocatorFile file = find_allocator_functions(testing::open_image(kLibraries + "libmimalloc.so.2"));
  const std::set<std::string> counted = names_of(file.unfollowed);
  EXPECT_TRUE(counted.contains("mi_heap_destroy"));
  for (const char* name : {"mi_dupenv_s", "mi_realpath", "mi_cfree", "mi_reallocarr", "vfree", "mi_wcsdup"}) {
    EXPECT_FALSE(counted.contains(name)) << name;
  }
  const std::set<std::string> followed = names_of(file.functions);
  for (const char* name : {"mi_heap_malloc", "mi_heap_realloc", "mi_new_n", "mi_free", "mi_expand", "mi_reallocf",
                           "mi_strdup", "mi_heap_strndup"}) {
    EXPECT_TRUE(followed.contains(name)) << name;
  }
}

TEST(Catalogue, KnowsAnAllocatorByAllItsPrefixes) {
  for (const char* name :
       {"je_malloc", "_rjem_xallocx", "je_mallctl", "tc_memalign", "mi_posix_memalign", "__libc_cfree", "rje_malloc",
        "jemalloc_sdallocx", "smallocx_0a1b2c", "jemalloc_smallocx_0a1b2c"}) {
    EXPECT_TRUE(find_in_catalogue(name).has_value()) << name;
  }
  EXPECT_FALSE(find_in_catalogue("tc_smallocx_0a1b2c").has_value());
  EXPECT_TRUE(leaves_blocks_alone("_rjem_malloc_usable_size"));
  EXPECT_TRUE(leaves_blocks_alone("jemalloc_nallocx"));
  EXPECT_FALSE(leaves_blocks_alone("mi_theap_unload"));
}

TEST(Catalogue, TellsWhereArgumentsAre) {
  EXPECT_EQ(find_in_catalogue("malloc")->arguments, kPassedInOrder);
  EXPECT_EQ(find_in_catalogue("mi_heap_realloc")->arguments, (ArgumentRegisters{HAWK_RSI, HAWK_RDX, HAWK_RCX}));
  EXPECT_EQ(find_in_catalogue("recallocarray")->arguments, (ArgumentRegisters{HAWK_RDI, HAWK_RDX, HAWK_RCX}));
}

}  // namespace
}  // namespace hawk

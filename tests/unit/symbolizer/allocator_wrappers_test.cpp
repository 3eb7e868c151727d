#include "symbolizer/allocator_wrappers.h"

#include <gtest/gtest.h>

#include "symbolizer/frame_role.h"

namespace hawk {
namespace {

class AllocatorWrapper : public ::testing::TestWithParam<const char*> {};
class SaysWhatFor : public ::testing::TestWithParam<const char*> {};

TEST_P(AllocatorWrapper, is_one) { EXPECT_EQ(frame_role(GetParam()), FrameRole::kAllocator) << GetParam(); }
TEST_P(SaysWhatFor, is_none) { EXPECT_EQ(frame_role(GetParam()), FrameRole::kProgram) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(known, AllocatorWrapper,
                         ::testing::Values("zmalloc", "zcalloc", "ztrymalloc_usable_internal", "xmalloc", "palloc",
                                           "palloc0", "MemoryContextAlloc", "AllocSetAlloc", "AllocSetAlloc.part.0",
                                           "g_malloc", "g_malloc0", "g_slice_alloc", "_PyObject_Malloc",
                                           "PyMem_RawMalloc", "sqlite3Malloc", "sqlite3DbMallocRawNN", "ngx_palloc",
                                           "CRYPTO_malloc", "my_malloc", "alloc_root", "luaM_realloc_", "_emalloc",
                                           "ruby_xmalloc2", "ggc_internal_alloc(unsigned long, void (*)(void*))",
                                           "v8::internal::AllocWithRetry(unsigned long)"));

INSTANTIATE_TEST_SUITE_P(by_rule, AllocatorWrapper,
                         ::testing::Values("bmalloc", "xrealloc", "xzalloc", "safe_malloc", "checked_realloc",
                                           "ap_malloc", "uv__malloc", "av_mallocz", "av_malloc_array", "MemCalloc",
                                           "SafeMalloc", "do_malloc", "xmalloc_or_die", "sys_calloc", "try_malloc",
                                           "xmalloc.constprop.0", "xmalloc@@LIB_1.0", "util::xmalloc(unsigned long)",
                                           "Pool::malloc(unsigned long)", "char* util::Malloc<char>(unsigned long)",
                                           "node::Realloc<char>(char*, unsigned long)"));

INSTANTIATE_TEST_SUITE_P(operators, AllocatorWrapper,
                         ::testing::Values("operator new(unsigned long)", "Arena::operator new(unsigned long)",
                                           "Arena::operator new[](unsigned long, Arena&)",
                                           "List<std::vector<int> >::operator new", "operator delete(void*)"));

INSTANTIATE_TEST_SUITE_P(named_for_a_purpose, SaysWhatFor,
                         ::testing::Values("main", "test_malloc", "bench_malloc", "use_malloc", "init_malloc",
                                           "malloc_test", "malloc_state_init", "run_calloc", "report_malloc",
                                           "buffer_alloc", "tcp_alloc_skb", "alloc_page", "strdup", "xstrdup",
                                           "pstrdup", "sds_new", "sdsnewlen", "createObject", "PyList_New",
                                           "dictExpand", "std_vector_of", "mallocate", "small_malloc_cache_fill",
                                           "grow", "Handler::operator newest()", "operatornew",
                                           "Cache::operator()(int)", "Session::reallocate_buffers()",
                                           "make_string(xmalloc)"));

TEST(AllocatorWrapper, ObjectsAreAllocatedByLibraries) {
  EXPECT_EQ(frame_role("_PyObject_GC_New"), FrameRole::kLibrary) << "what it calls may be a collection";
  EXPECT_EQ(frame_role("PyType_GenericAlloc"), FrameRole::kLibrary);
}

TEST(AllocatorWrapper, AnyTextIsAnswered) {
  for (const char* name : {"", "_", "__", "::", "<", ".", "@", "A", "::operator new", "malloc_", "_malloc_"}) {
    static_cast<void>(is_allocator_wrapper(name));
    static_cast<void>(is_object_allocator(name));
  }
  EXPECT_FALSE(is_allocator_wrapper(std::string(1 << 20, 'x') + "_malloc"));
}

}  // namespace
}  // namespace hawk

#include "symbolizer/frame_role.h"

#include <gtest/gtest.h>

#include "userspace/code/allocator_catalogue.h"

namespace hawk {
namespace {

class RoleOfFrame : public ::testing::TestWithParam<const char*> {};
class UserCode : public ::testing::TestWithParam<const char*> {};

TEST_P(RoleOfFrame, is_folded) { EXPECT_NE(frame_role(GetParam()), FrameRole::kProgram) << GetParam(); }
TEST_P(UserCode, is_shown) { EXPECT_EQ(frame_role(GetParam()), FrameRole::kProgram) << GetParam(); }

INSTANTIATE_TEST_SUITE_P(
    allocators, RoleOfFrame,
    ::testing::Values("malloc", "calloc", "realloc", "free", "posix_memalign", "malloc@plt", "__libc_malloc",
                      "__GI___libc_malloc", "_int_malloc", "_int_free", "_mid_memalign", "je_malloc", "je_mallocx",
                      "tc_new", "tc_malloc", "mi_malloc", "mi_new", "mi_zalloc", "mi_heap_malloc", "_mi_realloc",
                      "_rjem_malloc", "_rjem_mallocx", "xallocx", "rje_malloc", "jemalloc_calloc", "smallocx_0a1b2c",
                      "je_smallocx_0a1b2c", "mi_umalloc", "mi_theap_malloc",
                      "tcmalloc_size_returning_operator_new_nothrow", "operator new(unsigned long)",
                      "operator new[](unsigned long)", "operator new(unsigned long, std::nothrow_t const&)",
                      "operator new(unsigned long, std::align_val_t)", "operator delete(void*, unsigned long)",
                      "operator new", "__cxa_allocate_exception", "__cxa_allocate_exception [clone .cold]"));

INSTANTIATE_TEST_SUITE_P(
    cxx, RoleOfFrame,
    ::testing::Values(
        "std::vector<int, std::allocator<int> >::push_back(int const&)",
        "void std::vector<Foo, std::allocator<Foo> >::_M_realloc_insert<Foo const&>(Foo const&)",
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned long&, "
        "unsigned long)",
        "std::__cxx11::to_string[abi:cxx11](int)",
        "__gnu_cxx::new_allocator<int>::allocate(unsigned long, void const*)",
        "std::__1::vector<int, std::__1::allocator<int> >::reserve(unsigned long)",
        "std::pair<int, int>* std::__uninitialized_copy<false>::__uninit_copy<int*, int*>(int*, int*, int*)",
        "std::enable_if<(sizeof (int)) > (3), void>::type std::swap<int>(int&, int&)",
        "std::map<int, int>::operator[](int const&)", "__cxxabiv1::__cxa_throw(void*)",
        "std::allocator<(anonymous namespace)::Thing>::allocate",
        "decltype (forward<int>({parm#1})) std::__invoke_impl<int, int>(int&&)",
        "std::function<void (int)>::operator()(int) const", "std::ostream& std::operator<< <char>(std::ostream&, char)",
        "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void (*)(int), int> > >::_M_run()",
        "void (*std::pick<int>(int))(char)"));

INSTANTIATE_TEST_SUITE_P(
    rust, RoleOfFrame,
    ::testing::Values("alloc::raw_vec::RawVec<T,A>::reserve", "alloc::alloc::exchange_malloc", "__rust_alloc",
                      "__rust_realloc", "__rdl_alloc", "__rg_alloc", "__rustc::__rust_alloc",
                      "core::ops::function::FnOnce::call_once{{vtable.shim}}", "std::thread::Builder::spawn_unchecked_",
                      "<alloc::vec::Vec<T> as core::iter::traits::collect::FromIterator<T>>::from_iter",
                      "<alloc::vec::Vec<u8>>::push", "<str as alloc::string::ToString>::to_string",
                      "<T as alloc::vec::spec_from_elem::SpecFromElem>::from_elem",
                      "<&alloc::vec::Vec<mine::Thing> as core::clone::Clone>::clone",
                      "<[T] as alloc::borrow::ToOwned>::to_owned"));

INSTANTIATE_TEST_SUITE_P(
    cxx, UserCode,
    ::testing::Values(
        "main", "main.cold", "foo(std::string)", "std::string render(std::vector<int, std::allocator<int> > const&)",
        "foo<std::string>(std::string)", "std::vector<int, std::allocator<int> > make<std::string>(std::string const&)",
        "void (anonymous namespace)::helper<std::string>(std::string)", "(anonymous namespace)::make()",
        "Foo::operator std::string() const", "operator<<(std::ostream&, Foo const&)",
        "std::ostream& operator<< <Foo>(std::ostream&, Foo const&)", "operator==(std::string const&, Foo)",
        "main::{lambda(std::string)#1}::operator()(std::string) const",
        "auto run(std::string)::{lambda(auto:1)#1}::operator()<std::string>(std::string) const",
        "std::unique_ptr<Foo, std::default_delete<Foo> > Factory<(Kind)2>::make<std::string>(std::string)",
        "void (*pick<std::string>(int))(std::string)", "core::Engine::start(int)", "core::(anonymous namespace)::start",
        "alloc::Pool::take()", "my::std::thing()", "stdx::vector()", "mystd::f()",
        "decltype (std::declval<Foo>()) build<Foo>()", "non-virtual thunk to Foo::bar()",
        "Foo<(1)>(2)>::bar(std::string)", "newspaper", "new_session", "new", "newarray", "mi_strdup", "mi_heap_strndup",
        "__new_page", "free_list_init", "operatorx(std::string)", "", " ", "<", ">", "(", ")))", "operator", "<<<>>>",
        "->"));

INSTANTIATE_TEST_SUITE_P(c_library, UserCode,
                         ::testing::Values("strdup", "strndup", "asprintf", "getline", "fopen", "getaddrinfo"));

INSTANTIATE_TEST_SUITE_P(rust, UserCode,
                         ::testing::Values("mine::main::{{closure}}", "mine::Thing::new",
                                           "<mine::Thing as core::clone::Clone>::clone",
                                           "<alloc::vec::Vec<T> as mine::Trait>::grow", "<str as mine::Trait>::grow",
                                           "<mine::Thing>::new", "<&mine::Thing as core::fmt::Debug>::fmt",
                                           "<core_mine::Thing as mine::Trait>::run", "allocator_api::Pool::get"));

/// One list decides which functions are probed and which are folded. Those that say what the memory is for are not.
TEST(RoleOfFrame, is_every_function_that_is_followed) {
  for (const NameSet::Entry& entry : catalogue_names().entries()) {
    const std::string name(entry.name);
    if (name.starts_with("_Z")) continue;  // shown demangled
    const CatalogueEntry entry_of_name = *find_in_catalogue(name);
    EXPECT_EQ(frame_role(name) != FrameRole::kProgram,
              !entry_of_name.is_unfollowed() && entry_of_name.kind != HAWK_CALL_STRING)
        << name;
  }
}

}  // namespace
}  // namespace hawk

#include "userspace/report/short_name.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

struct NameCase {
  const char* function;
  const char* shortened;
};

class ShortName : public testing::TestWithParam<NameCase> {};

TEST_P(ShortName, IsWhatPeopleSay) { EXPECT_EQ(short_name(GetParam().function), GetParam().shortened); }

INSTANTIATE_TEST_SUITE_P(
    Cxx, ShortName,
    testing::Values(
        NameCase{"main", "main"}, NameCase{"", ""}, NameCase{"Cache::put(int) const", "Cache::put"},
        NameCase{"foo(std::function<void (int)>, int)", "foo"},
        NameCase{"void Handler<std::map<Key, Value, std::less<Key> >, 3>::keep<Request>(Request&&)",
                 "Handler<...>::keep<Request>"},
        NameCase{"std::string (anonymous namespace)::make<int>(int) const", "make<int>"},
        NameCase{"shop::(anonymous namespace)::run()", "shop::run"},
        NameCase{"(anonymous namespace)::Server::run()", "Server::run"},
        NameCase{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::_M_create(unsigned "
                 "long&, unsigned long)",
                 "std::string::_M_create"},
        NameCase{"std::__1::basic_string<char, std::__1::char_traits<char>, std::__1::allocator<char>>::append(char "
                 "const*)",
                 "std::string::append"},
        NameCase{"std::basic_string_view<wchar_t, std::char_traits<wchar_t> >::find(wchar_t) const",
                 "std::wstring_view::find"},
        NameCase{"std::basic_ostream<char, std::char_traits<char> >& std::operator<< <std::char_traits<char> "
                 ">(std::basic_ostream<char, std::char_traits<char> >&, char const*)",
                 "std::operator<<<...>"},
        NameCase{"parse<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > >(int)",
                 "parse<std::string>"},
        NameCase{"std::basic_string<Odd, std::char_traits<Odd>, Pool>::copy()", "std::basic_string<...>::copy"},
        NameCase{"Matrix<double>::Matrix(unsigned long)", "Matrix<double>::Matrix"},
        NameCase{"Bits<((3)<(4))>::set(int)", "Bits<((3)<(4))>::set"},
        NameCase{"Table::operator[](int)", "Table::operator[]"},
        NameCase{"Task::operator()(int) const", "Task::operator()"},
        NameCase{"Ptr::operator->() const", "Ptr::operator->"},
        NameCase{"bool operator< <int>(List<int> const&, List<int> const&)", "operator<<int>"},
        NameCase{"Value::operator std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >() "
                 "const",
                 "Value::operator std::string"},
        NameCase{"operator\"\" _ms(unsigned long long)", "operator\"\" _ms"},
        NameCase{"Arena::operator new(unsigned long)", "Arena::operator new"},
        NameCase{"operator new[](unsigned long)", "operator new[]"},
        NameCase{"serve(int) const::{lambda(char, Big<int>)#1}::operator()(char, Big<int>) const",
                 "serve::{lambda#1}::operator()"},
        NameCase{"{lambda()#2}::operator()() const", "{lambda#2}::operator()"},
        NameCase{"std::__cxx11::to_string[abi:cxx11](int)", "std::to_string"},
        NameCase{"void (*pick<int>(int))(char)", "pick<int>"},
        NameCase{"decltype (forward<int>({parm#1})) call<int>(int&&)", "call<int>"},
        NameCase{"grow(int) [clone .isra.0]", "grow"},
        NameCase{"unsigned long const& largest<long>(long const*)", "largest<long>"}));

INSTANTIATE_TEST_SUITE_P(
    Others, ShortName,
    testing::Values(NameCase{"<alloc::vec::Vec<T> as core::clone::Clone>::clone",
                             "<alloc::vec::Vec<T> as core::clone::Clone>::clone"},
                    NameCase{"<alloc::vec::Vec<alloc::boxed::Box<dyn Any>> as Extend<T>>::extend::<Iter>",
                             "<alloc::vec::Vec<...> as Extend<T>>::extend::<Iter>"},
                    NameCase{"server::accept::{closure#0}", "server::accept::{closure#0}"},
                    NameCase{"github.com/x/y.(*Server).Serve", "github.com/x/y.(*Server).Serve"},
                    NameCase{"py::handle:/srv/app/web request.py", "py::handle:/srv/app/web request.py"},
                    NameCase{"malloc@plt", "malloc@plt"}));

TEST(ShortName, TemplatesOfTensOfThousandsOfCharactersBecomeOneLine) {
  std::string arguments = "int";
  for (int depth = 0; depth < 1000; ++depth) arguments = "Pair<" + arguments + ", std::allocator<char> >";
  const std::string function = "void Handler<" + arguments + ">::keep(" + arguments + ")";
  ASSERT_GT(function.size(), 36'000U);
  EXPECT_EQ(short_name(function), "Handler<...>::keep");
}

TEST(ShortName, NothingBreaksIt) {
  for (const char* name : {"<",          "(",     ")",     "{",           "[",  "operator",
                           "operator<",  "a<b(c", "a)b>c", "std::basic_", "::", "std::basic_string<char",
                           "foo(int)::", " ",     "()",    "{}",          "f(", "(*",
                           "<>",         "x<>()"}) {
    EXPECT_FALSE(short_name(name).empty()) << name;
  }
}

}  // namespace
}  // namespace hawk

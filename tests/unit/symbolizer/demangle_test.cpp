#include "symbolizer/demangle.h"

#include <gtest/gtest.h>

#include <chrono>

namespace hawk {
namespace {

TEST(demangle, prints_cxx_names_as_cxxfilt_does) {
  EXPECT_EQ(demangle("_Z3fooi"), "foo(int)");
  EXPECT_EQ(demangle("_ZN3Foo3barERKSs"), "Foo::bar(std::string const&)");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_14makeEv"), "(anonymous namespace)::make()");
  EXPECT_EQ(demangle("_ZN3foo3barEv.cold"), "foo::bar() [clone .cold]");
  EXPECT_EQ(demangle("_Znwm"), "operator new(unsigned long)");
}

TEST(demangle, drops_the_hash_of_legacy_rust_names) {
  EXPECT_EQ(demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"), "core::fmt::Write::write_fmt");
  EXPECT_EQ(demangle("_ZN5alloc7raw_vec19RawVec$LT$T$C$A$GT$14grow_amortized17h0b4ec8a1d1a0f6b7E"),
            "alloc::raw_vec::RawVec<T,A>::grow_amortized");
  EXPECT_EQ(
      demangle(
          "_ZN73_$LT$alloc..string..String$u20$as$u20$core..convert..From$LT$char$GT$$GT$4from17h0123456789abcdefE"),
      "<alloc::string::String as core::convert::From<char>>::from");
}

TEST(demangle, knows_rust_v0_names) {
  EXPECT_EQ(demangle("_RNvC7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
  EXPECT_EQ(demangle("_RNCNvC7mycrate4main0"), "mycrate::main::{closure#0}");
}

TEST(demangle, leaves_other_text_alone) {
  for (const char* text :
       {"", "main", "malloc", "_start", "_Z", "_ZN", "_R", "foo.cold", "__libc_start_main", "operator"}) {
    EXPECT_EQ(demangle(text), text);
  }
}

TEST(demangle, gives_up_on_names_that_explode) {
  // Each level is a pair of the level before it, by substitution: 2^40 words from 300 characters.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string bomb = "_Z1fI1AIiiE";
  for (int level = 0; level < 36; ++level) {
    const std::string before = level == 0 ? "S0_" : std::string("S") + digits[static_cast<std::size_t>(level)] + "_";
    bomb += "S_I" + before + before + "E";
  }
  bomb += "Evv";
  const auto start = std::chrono::steady_clock::now();
  const std::string result = demangle(bomb);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_LE(result.size(), std::size_t{1} << 20);
}

}  // namespace
}  // namespace hawk

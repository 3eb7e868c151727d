#pragma once

#include <string>
#include <string_view>

namespace hawk {

/// A demangled function name for display: without return type and parameters, with the usual names of standard types,
/// and with long lists of template arguments elided. Names can have tens of thousands of characters; those of the same
/// shape differ in file and line.
///
///   std::string (anonymous namespace)::make<int>(int) const          make<int>
///   std::__cxx11::basic_string<char, ...>::_M_create(unsigned long&) std::string::_M_create
///   Handler<std::map<Key, Value, Less>, 3>::keep(Request&&)          Handler<...>::keep
///   serve(int)::{lambda(char)#1}::operator()(char) const             serve::{lambda#1}::operator()
///   <alloc::vec::Vec<T> as core::clone::Clone>::clone                <alloc::vec::Vec<T> as core::clone::Clone>::clone
///
/// What is no such name is returned as it is.
std::string short_name(std::string_view function);

}  // namespace hawk

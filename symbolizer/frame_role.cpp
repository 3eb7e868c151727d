#include "symbolizer/frame_role.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "symbolizer/allocator_wrappers.h"
#include "userspace/base/demangled_name.h"
#include "userspace/code/allocator_catalogue.h"

namespace hawk {
namespace {

/// What allocators put before the names of functions that they export, for those that do the work inside.
constexpr std::array<std::string_view, 8> kInnerPrefixes = {"__GI___libc_", "__GI___", "__GI_", "__libc_",
                                                            "__",           "_int_",   "_mid_", "_mi_"};
/// Rust's allocation shims, of all its versions.
constexpr std::array<std::string_view, 5> kRustShims = {"__rust_", "__rdl_", "__rg_", "__rustc::", "__cxa_"};
constexpr std::array<std::string_view, 3> kCxxNamespaces = {"std::", "__gnu_cxx::", "__cxxabiv1::"};
constexpr std::array<std::string_view, 3> kRustCrates = {"std::", "core::", "alloc::"};

/// What a program calls to map memory: the innermost frames of a stack that has.
constexpr std::array<std::string_view, 14> kMappingFunctions = {
    "mmap",   "mmap64", "__mmap", "__mmap64", "mremap",  "__mremap",       "sbrk",
    "__sbrk", "brk",    "__brk",  "shmat",    "__shmat", "allocate_stack", "syscall"};

template <std::size_t kCount>
bool starts_with_any(std::string_view text, const std::array<std::string_view, kCount>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return text.starts_with(p); });
}

/// A demangled name cut down to the qualified name it is about.
struct QualifiedName {
  std::string_view text;        ///< from the first scope on, to the parameters if there are any, or to the end
  bool has_parameters = false;  ///< so it is C++: neither C nor Rust names show any
};

/// `std::string (anonymous namespace)::make<int>(int) const` → `(anonymous namespace)::make<int>`.
QualifiedName qualified_name(std::string_view function) {
  function = without_clone_mark(function);
  std::size_t start = 0;
  std::size_t i = 0;
  while (i < function.size()) {
    const char c = function[i];
    const bool at_start = i == start;
    if (is_operator_at(function, i)) {
      return {function.substr(start), function.find('(', i) != std::string_view::npos};
    }
    if (c == ' ') {
      start = ++i;
    } else if (c == '(' && function.substr(i).starts_with(kAnonymousNamespace)) {
      i = after_group(function, i);
    } else if (at_start && is_declarator_at(function, i)) {
      start = i += 2;  // void (*pick<int>(int))(char): the name stands inside
    } else if (c == '(' && (at_start || function.substr(start, i - start) == "decltype")) {
      i = after_group(function, i);  // decltype (expression), a return type
    } else if (c == '(') {
      return {function.substr(start, i - start), true};
    } else if (c == '<' || c == '[' || c == '{') {
      i = after_group(function, i);
    } else {
      ++i;
    }
  }
  return {function.substr(start), false};
}

/// Functions that say what the memory is for (mi_strdup) stay in sight, and so do those whose calls are only counted:
/// they may be such ones.
bool stays_in_sight(const CatalogueEntry& entry) { return entry.is_unfollowed() || entry.kind == HAWK_CALL_STRING; }

bool is_in_catalogue(std::string_view name) {
  const std::optional<CatalogueEntry> entry = find_in_catalogue(name);
  return entry && !stays_in_sight(*entry);
}

bool is_kept_in_sight(std::string_view name) {
  const std::optional<CatalogueEntry> entry = find_in_catalogue(name);
  return entry && stays_in_sight(*entry);
}

bool is_allocator_function(std::string_view name) {
  name = name.substr(0, name.find('@'));
  return is_in_catalogue(name) ||
         std::any_of(kInnerPrefixes.begin(), kInnerPrefixes.end(), [&](std::string_view prefix) {
           return name.starts_with(prefix) && is_in_catalogue(name.substr(prefix.size()));
         });
}

/// glibc has some of them under names of its own as well.
bool is_mapping_function(std::string_view name) {
  if (constexpr std::string_view kInner = "__GI_"; name.starts_with(kInner)) name.remove_prefix(kInner.size());
  return std::find(kMappingFunctions.begin(), kMappingFunctions.end(), name) != kMappingFunctions.end();
}

/// Global ones and those of a class.
bool is_operator_new_or_delete(std::string_view name) {
  for (const std::string_view keyword : {"operator new", "operator delete"}) {
    const std::size_t at = name.find(keyword);
    if (at == std::string_view::npos || (at != 0 && !name.substr(0, at).ends_with("::"))) continue;
    const std::string_view rest = name.substr(at + keyword.size());
    if (rest.empty() || rest.starts_with('(') || rest.starts_with("[]")) return true;
  }
  return false;
}

/// A path of a Rust type or trait without the references and pointers before it.
std::string_view without_references(std::string_view type) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view prefix : {"&", "*const ", "*mut ", "mut ", "dyn ", "[", "("}) {
      if (!type.starts_with(prefix)) continue;
      type.remove_prefix(prefix.size());
      changed = true;
    }
  }
  return type;
}

/// `<Type as Trait>::function` or `<Type>::function`: the standard library's unless the type or the trait is the
/// user's. A type without a crate is a primitive or a generic parameter and decides nothing.
bool is_rust_impl_of_library(std::string_view name) {
  std::string_view inside = name.substr(1, after_group(name, 0) - 2);
  std::string_view trait;
  for (std::size_t i = 0; i < inside.size();) {
    if (inside.substr(i).starts_with(" as ")) {
      trait = inside.substr(i + 4);
      inside = inside.substr(0, i);
      break;
    }
    const bool opens = inside[i] == '<' || inside[i] == '(' || inside[i] == '[' || inside[i] == '{';
    i = opens ? after_group(inside, i) : i + 1;
  }
  const std::string_view type = without_references(inside);
  if (!trait.empty() && !starts_with_any(trait, kRustCrates)) return false;
  if (starts_with_any(type, kRustCrates)) return true;
  if (type.starts_with('<')) return is_rust_impl_of_library(type);
  const std::string_view head = type.substr(0, type.find_first_of("<,;)] "));
  return !trait.empty() && head.find("::") == std::string_view::npos;
}

}  // namespace

FrameRole frame_role(const std::string& function) {
  if (function.starts_with('<')) return is_rust_impl_of_library(function) ? FrameRole::kLibrary : FrameRole::kProgram;
  const QualifiedName name = qualified_name(function);
  if (starts_with_any(name.text, kCxxNamespaces) || starts_with_any(name.text, kRustShims)) return FrameRole::kLibrary;
  if (is_operator_new_or_delete(name.text)) return FrameRole::kAllocator;
  if (is_operator_at(name.text, 0)) return FrameRole::kProgram;
  // "core" and "alloc" are popular namespaces in C++ too, whose functions show their parameters; except those known
  // from DWARF alone, which are local to a file.
  const bool is_cxx = name.has_parameters || name.text.find(kAnonymousNamespace) != std::string_view::npos;
  if (!is_cxx && starts_with_any(name.text, kRustCrates)) return FrameRole::kLibrary;
  if (is_mapping_function(name.text)) return FrameRole::kLibrary;
  if (is_allocator_function(name.text) || is_object_allocator(name.text)) return FrameRole::kLibrary;
  return !is_kept_in_sight(name.text) && is_allocator_wrapper(name.text) ? FrameRole::kAllocator : FrameRole::kProgram;
}

}  // namespace hawk

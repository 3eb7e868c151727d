/// Which functions are allocators, by name. A name is here only when its arguments and result mean exactly what the
/// kind says: mi_heap_malloc (heap first), reallocf (frees on failure), xallocx (returns a size) are not.
///
/// Prefixes: __libc_ are glibc's own aliases, which static programs may keep alone; je_ and _rjem_ are how jemalloc is
/// built into programs and Rust crates.
#include "userspace/target/allocator_catalogue.h"

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

namespace hawk {
namespace {

constexpr CatalogueEntry c_function(std::string_view name, hawk_call_kind kind) { return {name, kind, false, false}; }
constexpr CatalogueEntry operator_new(std::string_view name, bool may_throw) {
  return {name, HAWK_CALL_MALLOC, true, may_throw};
}
constexpr CatalogueEntry operator_delete(std::string_view name) { return {name, HAWK_CALL_FREE, true, false}; }

/// All forms of operator new take the size first; the alignment, if any, comes second.
constexpr std::array kOperatorNewNames = {
    std::string_view("_Znwm"),
    std::string_view("_Znam"),
    std::string_view("_ZnwmSt11align_val_t"),
    std::string_view("_ZnamSt11align_val_t"),
    std::string_view("_ZnwmRKSt9nothrow_t"),
    std::string_view("_ZnamRKSt9nothrow_t"),
    std::string_view("_ZnwmSt11align_val_tRKSt9nothrow_t"),
    std::string_view("_ZnamSt11align_val_tRKSt9nothrow_t"),
};

constexpr std::array kEntries = {
    c_function("malloc", HAWK_CALL_MALLOC),
    c_function("calloc", HAWK_CALL_CALLOC),
    c_function("realloc", HAWK_CALL_REALLOC),
    c_function("reallocarray", HAWK_CALL_REALLOCARRAY),
    c_function("free", HAWK_CALL_FREE),
    c_function("cfree", HAWK_CALL_FREE),
    c_function("free_sized", HAWK_CALL_FREE),
    c_function("free_aligned_sized", HAWK_CALL_FREE),
    c_function("posix_memalign", HAWK_CALL_POSIX_MEMALIGN),
    c_function("aligned_alloc", HAWK_CALL_ALIGNED_ALLOC),
    c_function("memalign", HAWK_CALL_ALIGNED_ALLOC),
    c_function("valloc", HAWK_CALL_MALLOC),
    c_function("pvalloc", HAWK_CALL_MALLOC),

    c_function("__libc_malloc", HAWK_CALL_MALLOC),
    c_function("__libc_calloc", HAWK_CALL_CALLOC),
    c_function("__libc_realloc", HAWK_CALL_REALLOC),
    c_function("__libc_reallocarray", HAWK_CALL_REALLOCARRAY),
    c_function("__libc_free", HAWK_CALL_FREE),
    c_function("__libc_memalign", HAWK_CALL_ALIGNED_ALLOC),
    c_function("__libc_valloc", HAWK_CALL_MALLOC),
    c_function("__libc_pvalloc", HAWK_CALL_MALLOC),
    c_function("__posix_memalign", HAWK_CALL_POSIX_MEMALIGN),

    c_function("mallocx", HAWK_CALL_MALLOC),
    c_function("rallocx", HAWK_CALL_REALLOC),
    c_function("dallocx", HAWK_CALL_FREE),
    c_function("sdallocx", HAWK_CALL_FREE),

    c_function("je_malloc", HAWK_CALL_MALLOC),
    c_function("je_calloc", HAWK_CALL_CALLOC),
    c_function("je_realloc", HAWK_CALL_REALLOC),
    c_function("je_free", HAWK_CALL_FREE),
    c_function("je_posix_memalign", HAWK_CALL_POSIX_MEMALIGN),
    c_function("je_aligned_alloc", HAWK_CALL_ALIGNED_ALLOC),
    c_function("je_memalign", HAWK_CALL_ALIGNED_ALLOC),
    c_function("je_valloc", HAWK_CALL_MALLOC),
    c_function("je_mallocx", HAWK_CALL_MALLOC),
    c_function("je_rallocx", HAWK_CALL_REALLOC),
    c_function("je_dallocx", HAWK_CALL_FREE),
    c_function("je_sdallocx", HAWK_CALL_FREE),

    c_function("_rjem_malloc", HAWK_CALL_MALLOC),
    c_function("_rjem_calloc", HAWK_CALL_CALLOC),
    c_function("_rjem_realloc", HAWK_CALL_REALLOC),
    c_function("_rjem_free", HAWK_CALL_FREE),
    c_function("_rjem_posix_memalign", HAWK_CALL_POSIX_MEMALIGN),
    c_function("_rjem_aligned_alloc", HAWK_CALL_ALIGNED_ALLOC),
    c_function("_rjem_memalign", HAWK_CALL_ALIGNED_ALLOC),
    c_function("_rjem_valloc", HAWK_CALL_MALLOC),
    c_function("_rjem_mallocx", HAWK_CALL_MALLOC),
    c_function("_rjem_rallocx", HAWK_CALL_REALLOC),
    c_function("_rjem_dallocx", HAWK_CALL_FREE),
    c_function("_rjem_sdallocx", HAWK_CALL_FREE),

    // mimalloc's aligned forms take the size first, except the three that mirror C and POSIX.
    c_function("mi_malloc", HAWK_CALL_MALLOC),
    c_function("mi_malloc_small", HAWK_CALL_MALLOC),
    c_function("mi_zalloc", HAWK_CALL_MALLOC),
    c_function("mi_zalloc_small", HAWK_CALL_MALLOC),
    c_function("mi_malloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_zalloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_calloc", HAWK_CALL_CALLOC),
    c_function("mi_mallocn", HAWK_CALL_CALLOC),
    c_function("mi_realloc", HAWK_CALL_REALLOC),
    c_function("mi_realloc_aligned", HAWK_CALL_REALLOC),
    c_function("mi_reallocarray", HAWK_CALL_REALLOCARRAY),
    c_function("mi_posix_memalign", HAWK_CALL_POSIX_MEMALIGN),
    c_function("mi_memalign", HAWK_CALL_ALIGNED_ALLOC),
    c_function("mi_aligned_alloc", HAWK_CALL_ALIGNED_ALLOC),
    c_function("mi_valloc", HAWK_CALL_MALLOC),
    c_function("mi_pvalloc", HAWK_CALL_MALLOC),
    c_function("mi_free", HAWK_CALL_FREE),
    c_function("mi_cfree", HAWK_CALL_FREE),
    c_function("mi_free_size", HAWK_CALL_FREE),
    c_function("mi_free_aligned", HAWK_CALL_FREE),
    c_function("mi_free_size_aligned", HAWK_CALL_FREE),
    c_function("mi_new_nothrow", HAWK_CALL_MALLOC),
    c_function("mi_new_aligned_nothrow", HAWK_CALL_MALLOC),
    CatalogueEntry{"mi_new", HAWK_CALL_MALLOC, false, true},
    CatalogueEntry{"mi_new_aligned", HAWK_CALL_MALLOC, false, true},

    operator_new("_Znwm", true),
    operator_new("_Znam", true),
    operator_new("_ZnwmSt11align_val_t", true),
    operator_new("_ZnamSt11align_val_t", true),
    operator_new("_ZnwmRKSt9nothrow_t", false),
    operator_new("_ZnamRKSt9nothrow_t", false),
    operator_new("_ZnwmSt11align_val_tRKSt9nothrow_t", false),
    operator_new("_ZnamSt11align_val_tRKSt9nothrow_t", false),

    operator_delete("_ZdlPv"),
    operator_delete("_ZdaPv"),
    operator_delete("_ZdlPvm"),
    operator_delete("_ZdaPvm"),
    operator_delete("_ZdlPvSt11align_val_t"),
    operator_delete("_ZdaPvSt11align_val_t"),
    operator_delete("_ZdlPvmSt11align_val_t"),
    operator_delete("_ZdaPvmSt11align_val_t"),
    operator_delete("_ZdlPvRKSt9nothrow_t"),
    operator_delete("_ZdaPvRKSt9nothrow_t"),
    operator_delete("_ZdlPvSt11align_val_tRKSt9nothrow_t"),
    operator_delete("_ZdaPvSt11align_val_tRKSt9nothrow_t"),
};

}  // namespace

const NameSet& catalogue_names() {
  static const NameSet names = [] {
    std::vector<std::string_view> all;
    all.reserve(std::size(kEntries));
    for (const CatalogueEntry& entry : kEntries) all.push_back(entry.name);
    return NameSet(all);
  }();
  return names;
}

const NameSet& operator_new_names() {
  static const NameSet names(kOperatorNewNames);
  return names;
}

std::optional<CatalogueEntry> find_in_catalogue(std::string_view name) {
  static const std::unordered_map<std::string_view, CatalogueEntry> by_name = [] {
    std::unordered_map<std::string_view, CatalogueEntry> all;
    for (const CatalogueEntry& entry : kEntries) all.emplace(entry.name, entry);
    return all;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return std::nullopt;
  return found->second;
}

}  // namespace hawk

/// Which functions are allocators, by name. A name is followed only when its arguments and result mean exactly what the
/// kind says. Others that hand out, resize or take back blocks are unfollowed: their calls are counted.
///
/// Prefixes: __libc_ are glibc's own aliases, which static programs may keep alone; je_, jemalloc_, _rjem_ and rje_ are
/// how jemalloc is built into programs and Rust crates; tc_ and mi_ are gperftools' and mimalloc's own names.
#include "userspace/code/allocator_catalogue.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "userspace/code/jemalloc_prefixes.h"

namespace hawk {
namespace {

constexpr CatalogueEntry c_function(std::string_view name, hawk_call_kind kind) { return {.name = name, .kind = kind}; }
constexpr CatalogueEntry with_arguments(std::string_view name, hawk_call_kind kind, ArgumentRegisters arguments) {
  return {.name = name, .kind = kind, .arguments = arguments};
}
/// What the kind calls the first argument comes second: a heap comes before it.
constexpr CatalogueEntry in_heap(std::string_view name, hawk_call_kind kind) {
  return with_arguments(name, kind, {HAWK_RSI, HAWK_RDX, HAWK_RCX});
}
constexpr CatalogueEntry throwing(CatalogueEntry entry) {
  entry.may_throw = true;
  return entry;
}
constexpr CatalogueEntry in_company(CatalogueEntry entry) {
  entry.needs_company = true;
  return entry;
}
constexpr CatalogueEntry unfollowed(std::string_view name) {
  return in_company(c_function(name, HAWK_CALL_UNFOLLOWED));
}
constexpr CatalogueEntry operator_new(std::string_view name, bool may_throw) {
  return {.name = name, .kind = HAWK_CALL_MALLOC, .is_operator = true, .may_throw = may_throw};
}
constexpr CatalogueEntry operator_delete(std::string_view name) {
  return {.name = name, .kind = HAWK_CALL_FREE, .is_operator = true};
}

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

/// C and POSIX, and what is as old. Allocators export them again behind their prefixes.
constexpr std::array kStandard = {
    c_function("malloc", HAWK_CALL_MALLOC),
    c_function("calloc", HAWK_CALL_CALLOC),
    c_function("realloc", HAWK_CALL_REALLOC),
    c_function("reallocarray", HAWK_CALL_REALLOCARRAY),
    c_function("free", HAWK_CALL_FREE),
    in_company(c_function("cfree", HAWK_CALL_FREE)),
    in_company(c_function("free_sized", HAWK_CALL_FREE)),
    in_company(c_function("free_aligned_sized", HAWK_CALL_FREE)),
    c_function("posix_memalign", HAWK_CALL_POSIX_MEMALIGN),
    c_function("aligned_alloc", HAWK_CALL_ALIGNED_ALLOC),
    in_company(c_function("memalign", HAWK_CALL_ALIGNED_ALLOC)),
    in_company(c_function("valloc", HAWK_CALL_MALLOC)),
    in_company(c_function("pvalloc", HAWK_CALL_MALLOC)),
};
constexpr std::array<std::string_view, 3> kOtherPrefixes = {"__libc_", "tc_", "mi_"};

constexpr std::array kJemalloc = {
    in_company(c_function("mallocx", HAWK_CALL_MALLOC)),
    in_company(c_function("rallocx", HAWK_CALL_REALLOC)),
    in_company(c_function("xallocx", HAWK_CALL_XALLOCX)),
    in_company(c_function("dallocx", HAWK_CALL_FREE)),
    in_company(c_function("sdallocx", HAWK_CALL_FREE)),
    in_company(c_function("mallctl", HAWK_CALL_CONTROL)),
    // Numbers are made from names: the conversion of the name of a counted control is counted too. A jemalloc may have
    // other numbers than those that are known.
    in_company(c_function("mallctlnametomib", HAWK_CALL_CONTROL)),
    in_company(c_function("mallctlbymib", HAWK_CALL_CONTROL_BY_NUMBER)),
};
/// An experiment, which has the commit of its jemalloc in its name. The block in rax, its real size in rdx.
constexpr std::string_view kSmallocxBegins = "smallocx_";

constexpr std::array kOthers = {
    c_function("__posix_memalign", HAWK_CALL_POSIX_MEMALIGN),

    // BSD. On Linux libbsd has some of them, made of malloc and free.
    in_company(c_function("reallocf", HAWK_CALL_REALLOCF)),
    in_company(with_arguments("recallocarray", HAWK_CALL_REALLOCARRAY, {HAWK_RDI, HAWK_RDX, HAWK_RCX})),
    in_company(c_function("freezero", HAWK_CALL_FREE)),
    in_company(c_function("malloc_conceal", HAWK_CALL_MALLOC)),
    in_company(c_function("calloc_conceal", HAWK_CALL_CALLOC)),
    unfollowed("reallocarr"),
    unfollowed("vfree"),
    unfollowed("_aligned_malloc"),

    c_function("tc_malloc_skip_new_handler", HAWK_CALL_MALLOC),
    operator_new("tc_new", true),
    operator_new("tc_newarray", true),
    operator_new("tc_new_aligned", true),
    operator_new("tc_newarray_aligned", true),
    operator_new("tc_new_nothrow", false),
    operator_new("tc_newarray_nothrow", false),
    operator_new("tc_new_aligned_nothrow", false),
    operator_new("tc_newarray_aligned_nothrow", false),
    operator_delete("tc_delete"),
    operator_delete("tc_deletearray"),
    operator_delete("tc_delete_sized"),
    operator_delete("tc_deletearray_sized"),
    operator_delete("tc_delete_aligned"),
    operator_delete("tc_deletearray_aligned"),
    operator_delete("tc_delete_sized_aligned"),
    operator_delete("tc_deletearray_sized_aligned"),
    operator_delete("tc_delete_nothrow"),
    operator_delete("tc_deletearray_nothrow"),
    operator_delete("tc_delete_aligned_nothrow"),
    operator_delete("tc_deletearray_aligned_nothrow"),

    // Google's tcmalloc: the block in rax, its real size in rdx.
    throwing(c_function("__size_returning_new", HAWK_CALL_MALLOC)),
    throwing(c_function("__size_returning_new_aligned", HAWK_CALL_MALLOC)),
    throwing(c_function("__size_returning_new_hot_cold", HAWK_CALL_MALLOC)),
    throwing(c_function("__size_returning_new_aligned_hot_cold", HAWK_CALL_MALLOC)),
    throwing(c_function("tcmalloc_size_returning_operator_new", HAWK_CALL_MALLOC)),
    throwing(c_function("tcmalloc_size_returning_operator_new_aligned", HAWK_CALL_MALLOC)),
    throwing(c_function("tcmalloc_size_returning_operator_new_hot_cold", HAWK_CALL_MALLOC)),
    throwing(c_function("tcmalloc_size_returning_operator_new_aligned_hot_cold", HAWK_CALL_MALLOC)),
    c_function("tcmalloc_size_returning_operator_new_nothrow", HAWK_CALL_MALLOC),
    c_function("tcmalloc_size_returning_operator_new_aligned_nothrow", HAWK_CALL_MALLOC),
    c_function("tcmalloc_size_returning_operator_new_hot_cold_nothrow", HAWK_CALL_MALLOC),
    c_function("tcmalloc_size_returning_operator_new_aligned_hot_cold_nothrow", HAWK_CALL_MALLOC),
    in_company(c_function("alloc_at_least", HAWK_CALL_MALLOC)),
    in_company(c_function("aligned_alloc_at_least", HAWK_CALL_ALIGNED_ALLOC)),

    // mimalloc's aligned forms take the size first, except those that mirror C and POSIX.
    c_function("mi_malloc_small", HAWK_CALL_MALLOC),
    c_function("mi_zalloc", HAWK_CALL_MALLOC),
    c_function("mi_zalloc_small", HAWK_CALL_MALLOC),
    c_function("mi_malloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_malloc_aligned_at", HAWK_CALL_MALLOC),
    c_function("mi_zalloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_zalloc_aligned_at", HAWK_CALL_MALLOC),
    c_function("mi_mallocn", HAWK_CALL_CALLOC),
    c_function("mi_calloc_aligned", HAWK_CALL_CALLOC),
    c_function("mi_calloc_aligned_at", HAWK_CALL_CALLOC),
    c_function("mi_expand", HAWK_CALL_EXPAND),
    c_function("mi__expand", HAWK_CALL_EXPAND),
    c_function("mi_realloc_aligned", HAWK_CALL_REALLOC),
    c_function("mi_realloc_aligned_at", HAWK_CALL_REALLOC),
    c_function("mi_reallocf", HAWK_CALL_REALLOCF),
    c_function("mi_reallocn", HAWK_CALL_REALLOCARRAY),
    c_function("mi_rezalloc", HAWK_CALL_REALLOC),
    c_function("mi_rezalloc_aligned", HAWK_CALL_REALLOC),
    c_function("mi_rezalloc_aligned_at", HAWK_CALL_REALLOC),
    c_function("mi_recalloc", HAWK_CALL_REALLOCARRAY),
    c_function("mi_recalloc_aligned", HAWK_CALL_REALLOCARRAY),
    c_function("mi_recalloc_aligned_at", HAWK_CALL_REALLOCARRAY),
    c_function("mi_aligned_recalloc", HAWK_CALL_REALLOCARRAY),
    c_function("mi_aligned_offset_recalloc", HAWK_CALL_REALLOCARRAY),
    unfollowed("mi_cfree"),  // only if the block is mimalloc's
    c_function("mi_free_size", HAWK_CALL_FREE),
    c_function("mi_free_aligned", HAWK_CALL_FREE),
    c_function("mi_free_size_aligned", HAWK_CALL_FREE),
    c_function("mi_free_small", HAWK_CALL_FREE),
    c_function("mi_strdup", HAWK_CALL_STRING),
    c_function("mi_strndup", HAWK_CALL_STRING),
    c_function("mi_heap_strdup", HAWK_CALL_STRING),
    c_function("mi_heap_strndup", HAWK_CALL_STRING),
    throwing(c_function("mi_new", HAWK_CALL_MALLOC)),
    throwing(c_function("mi_new_aligned", HAWK_CALL_MALLOC)),
    throwing(c_function("mi_new_n", HAWK_CALL_CALLOC)),
    throwing(c_function("mi_new_realloc", HAWK_CALL_REALLOC)),
    throwing(c_function("mi_new_reallocn", HAWK_CALL_REALLOCARRAY)),
    c_function("mi_new_nothrow", HAWK_CALL_MALLOC),
    c_function("mi_new_aligned_nothrow", HAWK_CALL_MALLOC),
    in_heap("mi_heap_malloc", HAWK_CALL_MALLOC),
    in_heap("mi_heap_malloc_small", HAWK_CALL_MALLOC),
    in_heap("mi_heap_malloc_aligned", HAWK_CALL_MALLOC),
    in_heap("mi_heap_malloc_aligned_at", HAWK_CALL_MALLOC),
    in_heap("mi_heap_zalloc", HAWK_CALL_MALLOC),
    in_heap("mi_heap_zalloc_aligned", HAWK_CALL_MALLOC),
    in_heap("mi_heap_zalloc_aligned_at", HAWK_CALL_MALLOC),
    in_heap("mi_heap_calloc", HAWK_CALL_CALLOC),
    in_heap("mi_heap_calloc_aligned", HAWK_CALL_CALLOC),
    in_heap("mi_heap_calloc_aligned_at", HAWK_CALL_CALLOC),
    in_heap("mi_heap_mallocn", HAWK_CALL_CALLOC),
    in_heap("mi_heap_realloc", HAWK_CALL_REALLOC),
    in_heap("mi_heap_realloc_aligned", HAWK_CALL_REALLOC),
    in_heap("mi_heap_realloc_aligned_at", HAWK_CALL_REALLOC),
    in_heap("mi_heap_reallocf", HAWK_CALL_REALLOCF),
    in_heap("mi_heap_reallocn", HAWK_CALL_REALLOCARRAY),
    in_heap("mi_heap_rezalloc", HAWK_CALL_REALLOC),
    in_heap("mi_heap_rezalloc_aligned", HAWK_CALL_REALLOC),
    in_heap("mi_heap_rezalloc_aligned_at", HAWK_CALL_REALLOC),
    in_heap("mi_heap_recalloc", HAWK_CALL_REALLOCARRAY),
    in_heap("mi_heap_recalloc_aligned", HAWK_CALL_REALLOCARRAY),
    in_heap("mi_heap_recalloc_aligned_at", HAWK_CALL_REALLOCARRAY),
    throwing(in_heap("mi_heap_alloc_new", HAWK_CALL_MALLOC)),
    throwing(in_heap("mi_heap_alloc_new_n", HAWK_CALL_CALLOC)),
    in_heap("mi_heap_zalloc_small", HAWK_CALL_MALLOC),
    // The part of a heap that is a thread's, since 3.0.
    in_heap("mi_theap_malloc", HAWK_CALL_MALLOC),
    in_heap("mi_theap_malloc_small", HAWK_CALL_MALLOC),
    in_heap("mi_theap_malloc_aligned", HAWK_CALL_MALLOC),
    in_heap("mi_theap_zalloc", HAWK_CALL_MALLOC),
    in_heap("mi_theap_zalloc_small", HAWK_CALL_MALLOC),
    in_heap("mi_theap_calloc", HAWK_CALL_CALLOC),
    in_heap("mi_theap_realloc", HAWK_CALL_REALLOC),
    // Since 2.2: the real size is stored where the last argument points to.
    c_function("mi_umalloc", HAWK_CALL_MALLOC),
    c_function("mi_umalloc_small", HAWK_CALL_MALLOC),
    c_function("mi_umalloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_uzalloc_small", HAWK_CALL_MALLOC),
    c_function("mi_uzalloc_aligned", HAWK_CALL_MALLOC),
    c_function("mi_ucalloc", HAWK_CALL_CALLOC),
    c_function("mi_urealloc", HAWK_CALL_REALLOC),
    c_function("mi_ufree", HAWK_CALL_FREE),

    operator_new("_Znwm", true),
    operator_new("_Znam", true),
    operator_new("_ZnwmSt11align_val_t", true),
    operator_new("_ZnamSt11align_val_t", true),
    operator_new("_ZnwmRKSt9nothrow_t", false),
    operator_new("_ZnamRKSt9nothrow_t", false),
    operator_new("_ZnwmSt11align_val_tRKSt9nothrow_t", false),
    operator_new("_ZnamSt11align_val_tRKSt9nothrow_t", false),
    // Google's tcmalloc.
    operator_new("_Znwm12__hot_cold_t", true),
    operator_new("_Znam12__hot_cold_t", true),
    operator_new("_ZnwmSt11align_val_t12__hot_cold_t", true),
    operator_new("_ZnamSt11align_val_t12__hot_cold_t", true),
    operator_new("_ZnwmRKSt9nothrow_t12__hot_cold_t", false),
    operator_new("_ZnamRKSt9nothrow_t12__hot_cold_t", false),
    operator_new("_ZnwmSt11align_val_tRKSt9nothrow_t12__hot_cold_t", false),
    operator_new("_ZnamSt11align_val_tRKSt9nothrow_t12__hot_cold_t", false),

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

constexpr std::array kFamilies = {
    AllocatorFamily{.prefix = "mi_", .evidence = "mi_malloc"},
    AllocatorFamily{.prefix = "tc_", .evidence = "tc_malloc"},
    AllocatorFamily{.prefix = "je_", .evidence = "je_mallocx"},
    AllocatorFamily{.prefix = "jemalloc_", .evidence = "jemalloc_mallocx"},
    AllocatorFamily{.prefix = "_rjem_", .evidence = "_rjem_mallocx"},
    AllocatorFamily{.prefix = "rje_", .evidence = "rje_mallocx"},
    AllocatorFamily{.prefix = kSmallocxBegins, .evidence = "mallocx"},
};

/// Whether a function of this name, behind an allocator's prefix, is proof enough that the allocator is here. A program
/// may well have a mi_new or a tc_free that are its own.
bool is_evident(std::string_view name) {
  return name.find("alloc") != std::string_view::npos && !name.starts_with("mi_heap_alloc");
}

CatalogueEntry with_company_of_family(CatalogueEntry entry) {
  if (!family_prefix(entry.name).empty()) entry.needs_company = !is_evident(entry.name) || entry.is_unfollowed();
  return entry;
}

/// All entries, those with prefixes included.
class Catalogue {
 public:
  Catalogue() {
    add_all(kStandard);
    add_all(kJemalloc);
    add_all(kOthers);
    for (const std::string_view prefix : kOtherPrefixes) add_all(kStandard, prefix);
    for (const std::string_view prefix : kJemallocPrefixes) {
      add_all(kStandard, prefix);
      add_all(kJemalloc, prefix);
    }
  }

  const std::vector<std::string_view>& names() const { return names_; }
  std::optional<CatalogueEntry> find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  void add_all(std::span<const CatalogueEntry> entries, std::string_view prefix = {}) {
    for (CatalogueEntry entry : entries) {
      if (!prefix.empty()) entry.name = prefixed_.emplace_back(std::string(prefix) + std::string(entry.name));
      entry = with_company_of_family(entry);
      if (by_name_.emplace(entry.name, entry).second) names_.push_back(entry.name);
    }
  }

  std::deque<std::string> prefixed_;  ///< what views of names refer to stays where it is
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, CatalogueEntry> by_name_;
};

const Catalogue& catalogue() {
  static const Catalogue whole;
  return whole;
}

}  // namespace

const NameSet& catalogue_names() {
  static const NameSet names(catalogue().names());
  return names;
}

const NameSet& operator_new_names() {
  static const NameSet names(kOperatorNewNames);
  return names;
}

std::optional<CatalogueEntry> find_by_beginning(std::string_view name) {
  const std::string_view whole = name;
  for (const std::string_view prefix : kJemallocPrefixes) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  if (!name.starts_with(kSmallocxBegins)) return std::nullopt;
  return in_company(c_function(whole, HAWK_CALL_MALLOC));
}

std::optional<CatalogueEntry> find_in_catalogue(std::string_view name) {
  const std::optional<CatalogueEntry> listed = catalogue().find(name);
  return listed ? listed : find_by_beginning(name);
}

std::span<const AllocatorFamily> allocator_families() { return kFamilies; }

std::string_view family_prefix(std::string_view name) {
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const AllocatorFamily& each) { return name.starts_with(each.prefix); });
  return family == kFamilies.end() ? std::string_view() : family->prefix;
}

}  // namespace hawk

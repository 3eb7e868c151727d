/// Which functions are allocators, by name. A name is followed only when its arguments and result mean exactly what the
/// kind says. Others that hand out, resize or take back blocks are unfollowed: their calls are counted.
///
/// Prefixes: __libc_ are glibc's own aliases, which static programs may keep alone; je_ and _rjem_ are how jemalloc is
/// built into programs and Rust crates; tc_ and mi_ are gperftools' and mimalloc's own names.
#include "userspace/code/allocator_catalogue.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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
constexpr std::array<std::string_view, 5> kStandardPrefixes = {"__libc_", "je_", "_rjem_", "tc_", "mi_"};

constexpr std::array kJemalloc = {
    in_company(c_function("mallocx", HAWK_CALL_MALLOC)),
    in_company(c_function("rallocx", HAWK_CALL_REALLOC)),
    in_company(c_function("xallocx", HAWK_CALL_XALLOCX)),
    in_company(c_function("dallocx", HAWK_CALL_FREE)),
    in_company(c_function("sdallocx", HAWK_CALL_FREE)),
    in_company(c_function("mallctl", HAWK_CALL_CONTROL)),
    // Numbers are made from names: the conversion of the name of a counted control is counted here.
    in_company(c_function("mallctlnametomib", HAWK_CALL_CONTROL)),
};
constexpr std::array<std::string_view, 2> kJemallocPrefixes = {"je_", "_rjem_"};

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
    AllocatorFamily{.prefix = "_rjem_", .evidence = "_rjem_mallocx"},
    // jemalloc's name for an experiment has its commit in it.
    AllocatorFamily{.prefix = "smallocx_", .evidence = "mallocx"},
};

/// Statistics, options, questions about a block, the memory that blocks are cut from; and heaps, whose end (but for
/// mi_heap_destroy) hands their blocks to another.
constexpr auto kLeavingBlocksAlone = std::to_array<std::string_view>({
    "malloc_usable_size",
    "malloc_size",
    "malloc_good_size",
    "malloc_stats_print",
    "mallctlbymib",
    "nallocx",
    "sallocx",

    "tc_mallinfo",
    "tc_mallinfo2",
    "tc_malloc_size",
    "tc_malloc_stats",
    "tc_mallopt",
    "tc_nallocx",
    "tc_query_new_mode",
    "tc_set_new_mode",
    "tc_version",

    "mi_arena_area",
    "mi_check_owned",
    "mi_collect",
    "mi_debug_show_arenas",
    "mi_good_size",
    "mi_heap_check_owned",
    "mi_heap_collect",
    "mi_heap_contains_block",
    "mi_heap_delete",
    "mi_heap_get_backing",
    "mi_heap_get_default",
    "mi_heap_new",
    "mi_heap_new_ex",
    "mi_heap_new_in_arena",
    "mi_heap_set_default",
    "mi_heap_visit_blocks",
    "mi_is_in_heap_region",
    "mi_is_redirected",
    "mi_malloc_good_size",
    "mi_malloc_size",
    "mi_malloc_usable_size",
    "mi_manage_os_memory",
    "mi_manage_os_memory_ex",
    "mi_option_disable",
    "mi_option_enable",
    "mi_option_get",
    "mi_option_get_clamp",
    "mi_option_get_size",
    "mi_option_is_enabled",
    "mi_option_set",
    "mi_option_set_default",
    "mi_option_set_enabled",
    "mi_option_set_enabled_default",
    "mi_process_info",
    "mi_process_info_print",
    "mi_process_init",
    "mi_register_deferred_free",
    "mi_register_error",
    "mi_register_output",
    "mi_reserve_huge_os_pages",
    "mi_reserve_huge_os_pages_at",
    "mi_reserve_huge_os_pages_at_ex",
    "mi_reserve_huge_os_pages_interleave",
    "mi_reserve_os_memory",
    "mi_reserve_os_memory_ex",
    "mi_stats_merge",
    "mi_stats_print",
    "mi_stats_print_out",
    "mi_stats_reset",
    "mi_subproc_add_current_thread",
    "mi_subproc_delete",
    "mi_subproc_main",
    "mi_subproc_new",
    "mi_thread_done",
    "mi_thread_init",
    "mi_thread_set_in_threadpool",
    "mi_thread_stats_print_out",
    "mi_usable_size",
    "mi_version",
});

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
    for (const std::string_view prefix : kStandardPrefixes) add_all(kStandard, prefix);
    for (const std::string_view prefix : kJemallocPrefixes) add_all(kJemalloc, prefix);
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

std::optional<CatalogueEntry> find_in_catalogue(std::string_view name) { return catalogue().find(name); }

std::span<const AllocatorFamily> allocator_families() { return kFamilies; }

std::string_view family_prefix(std::string_view name) {
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const AllocatorFamily& each) { return name.starts_with(each.prefix); });
  return family == kFamilies.end() ? std::string_view() : family->prefix;
}

bool leaves_blocks_alone(std::string_view name) {
  static const std::unordered_set<std::string_view> names(kLeavingBlocksAlone.begin(), kLeavingBlocksAlone.end());
  if (names.contains(name)) return true;
  return std::any_of(kJemallocPrefixes.begin(), kJemallocPrefixes.end(), [&](std::string_view prefix) {
    return name.starts_with(prefix) && names.contains(name.substr(prefix.size()));
  });
}

}  // namespace hawk

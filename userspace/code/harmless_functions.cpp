/// What allocators export beside functions for blocks.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/jemalloc_prefixes.h"

namespace hawk {
namespace {

/// Statistics, options, questions about a block, the memory that blocks are cut from; and heaps, whose end (but for
/// mi_heap_destroy) hands their blocks to another.
constexpr auto kLeavingBlocksAlone = std::to_array<std::string_view>({
    "malloc_usable_size",
    "malloc_size",
    "malloc_good_size",
    "malloc_stats_print",
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

    "mi_abandoned_visit_blocks",
    "mi_any_heap_contains",
    "mi_arena_area",
    "mi_arena_contains",
    "mi_arena_min_alignment",
    "mi_arena_min_size",
    "mi_arenas_print",
    "mi_check_owned",
    "mi_collect",
    "mi_collect_reduce",
    "mi_debug_show_arenas",
    "mi_good_size",
    "mi_heap_check_owned",
    "mi_heap_collect",
    "mi_heap_contains",
    "mi_heap_contains_block",
    "mi_heap_delete",
    "mi_heap_get_backing",
    "mi_heap_get_default",
    "mi_heap_guarded_set_sample_rate",
    "mi_heap_guarded_set_size_bound",
    "mi_heap_main",
    "mi_heap_new",
    "mi_heap_new_ex",
    "mi_heap_new_in_arena",
    "mi_heap_of",
    "mi_heap_set_default",
    "mi_heap_set_numa_affinity",
    "mi_heap_theap",
    "mi_heap_visit_abandoned_blocks",
    "mi_heap_visit_blocks",
    "mi_is_in_heap_region",
    "mi_is_redirected",
    "mi_malloc_good_size",
    "mi_malloc_size",
    "mi_malloc_usable_size",
    "mi_manage_memory",
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
    "mi_options_print",
    "mi_options_print_out",
    "mi_process_info",
    "mi_process_info_print",
    "mi_process_info_print_out",
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
    "mi_subproc_current",
    "mi_subproc_delete",
    "mi_subproc_main",
    "mi_subproc_new",
    "mi_subproc_visit_heaps",
    "mi_theap_collect",
    "mi_theap_get_default",
    "mi_theap_guarded_set_sample_rate",
    "mi_theap_guarded_set_size_bound",
    "mi_theap_set_default",
    "mi_theap_visit_blocks",
    "mi_thread_done",
    "mi_thread_init",
    "mi_thread_set_in_threadpool",
    "mi_thread_stats_print_out",
    "mi_unsafe_heap_page_is_under_utilized",
    "mi_usable_size",
    "mi_version",
});

}  // namespace

bool leaves_blocks_alone(std::string_view name) {
  static const std::unordered_set<std::string_view> names(kLeavingBlocksAlone.begin(), kLeavingBlocksAlone.end());
  if (names.contains(name)) return true;
  return std::any_of(kJemallocPrefixes.begin(), kJemallocPrefixes.end(), [&](std::string_view prefix) {
    return name.starts_with(prefix) && names.contains(name.substr(prefix.size()));
  });
}

}  // namespace hawk

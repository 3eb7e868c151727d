/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The target's stack without a copy.
 *
 * bpf_probe_read_user costs 160 ns per call in a probe, whatever it reads: the largest part of what a traced allocation
 * costs beyond its traps. But the kernel has all memory mapped once more, the direct map, and a program may load from
 * there. So the page tables are walked as the processor walks them (Intel SDM volume 3, 4.5, 4-level paging), four
 * dependent loads a page, and words are then read where they are. That a page is still the target's is seen afterwards
 * from its entry, as get_user_pages_fast does it in the kernel.
 *
 * Loads through bpf_rdonly_cast cannot fault: an address that is not mapped reads as 0, and there are pages that the direct
 * map does not have (memfd_secret, device memory). So a page counts only once a word in it was read that is not 0. Where the
 * direct map is, and that all this holds on this machine, is found out before tracing on a page of our own
 * (find_direct_map); otherwise, and for every page that is not simply there, bpf_probe_read_user it is. All that knows x86-64
 * paging is in this file. */
#ifndef HAWKTRACE_DIRECT_MEMORY_BPF_H
#define HAWKTRACE_DIRECT_MEMORY_BPF_H

#include <bpf/bpf_core_read.h>

#include "bpf/maps.bpf.h"

#define HAWK_PAGE_SHIFT 12
#define HAWK_PAGE_MASK 0xfffull
/* Of a page-table entry: present; maps a large page; and bits 12 to 45, the physical address. Above those may be the
 * memory-encryption bit. */
#define HAWK_ENTRY_PRESENT 1ull
#define HAWK_ENTRY_LARGE 0x80ull
#define HAWK_ENTRY_FRAME 0x3ffffffff000ull
/* The levels of the tables: what part of the address selects the entry. */
#define HAWK_TOP_LEVEL_SHIFT 39
#define HAWK_LEVEL_BITS 9

/* Since 6.17 (as these string functions are there) a program can have any kernel memory shown at once; before, every word takes
 * what looks like a call to the compiler, for which it puts registers aside. */
#define HAWK_PAGES_CAN_BE_SHOWN bpf_ksym_exists(bpf_strlen)

/* A word of kernel memory. The type only has to exist in every kernel and to begin with an integer of 64 bits. Its number comes
 * from user space: libbpf would look for it among the types that relocations need (relocation_types.h). */
static __always_inline __u64 kernel_word(__u64 address)
{
	struct timespec64 *words = bpf_rdonly_cast((void *)address, settings.word_type);

	return words->tv_sec;
}

/* Finds the page of `address`. False: it is not there, or not simply. */
static __always_inline bool find_page(__u64 tables, __u64 direct_map, __u64 address, struct hawk_view *view)
{
	view->page = HAWK_NO_VIEW;
	if (address >> (HAWK_TOP_LEVEL_SHIFT + HAWK_LEVEL_BITS - 1))
		return false;
#pragma clang loop unroll(full)
	for (int shift = HAWK_TOP_LEVEL_SHIFT; shift >= HAWK_PAGE_SHIFT; shift -= HAWK_LEVEL_BITS) {
		__u64 entry_at = tables + (address >> shift & ((1 << HAWK_LEVEL_BITS) - 1)) * 8;
		__u64 entry = kernel_word(entry_at), inside = (1ull << shift) - 1;

		if (!(entry & HAWK_ENTRY_PRESENT))
			return false;
		if (shift == HAWK_PAGE_SHIFT || (shift < HAWK_TOP_LEVEL_SHIFT && (entry & HAWK_ENTRY_LARGE))) {
			view->entry_at = entry_at;
			view->entry = entry;
			view->shown_at = direct_map + (entry & HAWK_ENTRY_FRAME & ~inside) +
					 (address & inside & ~HAWK_PAGE_MASK);
			view->page = address & ~HAWK_PAGE_MASK;
			return true;
		}
		tables = direct_map + (entry & HAWK_ENTRY_FRAME);
	}
	return false;
}

/* Whether the page that was read is still the target's. */
static __always_inline bool view_holds(const struct hawk_view *view)
{
	__u64 changed = kernel_word(view->entry_at) ^ view->entry;

	return !(changed & (HAWK_ENTRY_FRAME | HAWK_ENTRY_PRESENT));
}

/* The word of the page in view that stands in its page where `address` does. */
static __always_inline __u64 word_in_page(const struct hawk_view *view, __u64 address)
{
	return kernel_word(view->shown_at + (address & HAWK_PAGE_MASK & ~7ull));
}

/* Whether the kernel has the page in view mapped, by one of its words, any: false is no proof that it has not. */
static __always_inline bool page_is_shown(const struct hawk_view *view, __u64 address)
{
	return word_in_page(view, address) != 0;
}

/* Shows another page; false: it cannot be read this way, or the one before is no longer the target's. */
static __always_inline bool turn_view(struct hawk_thread *thread, __u64 address)
{
	if (thread->view.page != HAWK_NO_VIEW && !view_holds(&thread->view))
		return false;
	return find_page(thread->page_tables, state.direct_map, address, &thread->view);
}

/* ------------------------------------------------------------------------------------------------- where it all lies */

/* The direct map begins at a multiple of 1 GiB (arch/x86/mm/kaslr.c), below the page tables by their physical address. */
#define HAWK_DIRECT_MAP_STEP (1ull << 30)
/* 64 TiB, all that 4-level paging has. */
#define HAWK_DIRECT_MAP_STEPS (64u << 10)

struct hawk_search {
	struct hawk_direct_map_check *check;
	__u64 tables;
};

static long try_direct_map(__u32 step, void *context)
{
	struct hawk_search *search = context;
	struct hawk_view view = {};
	__u64 base = (search->tables & ~(HAWK_DIRECT_MAP_STEP - 1)) - step * HAWK_DIRECT_MAP_STEP;

	if (!find_page(search->tables, base, search->check->address, &view))
		return 0;
	for (int i = 0; i < HAWK_CHECK_WORDS; i++) {
		if (kernel_word(view.shown_at + (search->check->address & HAWK_PAGE_MASK) + i * 8) != search->check->words[i])
			return 0;
	}
	search->check->direct_map = base;
	return 1;
}

#endif

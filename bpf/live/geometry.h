/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Which page of the arena's live table holds an address, while the table grows and shrinks by one page at a time.
 * Pure: compiled for the kernel and for the host's tests.
 *
 * Linear hashing with partial expansions (Larson, "Linear hashing with partial expansions", VLDB 1980). The pages form
 * sets; a set has k pages, 4 <= k <= 8, and its addresses are spread over them by their hash (hawk_positions). One step gives
 * one set its page k + 1 and moves only addresses of that set; when every set has had its step, the next k begins, and
 * sets of 8 pages are the same as twice as many sets of 4. So the sets that have had their step and those that have not
 * differ by a quarter at most: the table can be kept three quarters full at any size, without ever being rebuilt. */
#ifndef HAWKTRACE_LIVE_GEOMETRY_H
#define HAWKTRACE_LIVE_GEOMETRY_H

#include "bpf/types.h"

#define HAWK_SET_PAGES_LEAST 4
#define HAWK_SET_PAGES_MOST 8
/* Sets of the smallest table; 8 sets of 4 pages are 9,216 slots. */
#define HAWK_SETS_LOG2_LEAST 3
/* Sets of the largest: 2^16 sets of 8 pages are 2 GiB. */
#define HAWK_SETS_LOG2_MOST 16

/* How far the table has grown. One word in the arena, so that it is read and replaced as a whole. */
struct hawk_geometry {
	__u32 sets_log2;
	__u32 set_pages;          /* k: pages of the sets from `next` on; those below have k + 1 */
	__u32 next;               /* the set that gets its page next */
};

#define HAWK_GEOMETRY_SET_PAGES_SHIFT 32
#define HAWK_GEOMETRY_SETS_LOG2_SHIFT 40

static inline __attribute__((always_inline)) __u64 hawk_geometry_pack(struct hawk_geometry g)
{
	return (__u64)g.sets_log2 << HAWK_GEOMETRY_SETS_LOG2_SHIFT | (__u64)g.set_pages << HAWK_GEOMETRY_SET_PAGES_SHIFT |
	       g.next;
}

static inline __attribute__((always_inline)) struct hawk_geometry hawk_geometry_unpack(__u64 word)
{
	struct hawk_geometry g = {
		.sets_log2 = (__u32)(word >> HAWK_GEOMETRY_SETS_LOG2_SHIFT),
		.set_pages = (__u32)(word >> HAWK_GEOMETRY_SET_PAGES_SHIFT) & 0xff,
		.next = (__u32)word,
	};

	return g;
}

static inline __attribute__((always_inline)) struct hawk_geometry hawk_geometry_start()
{
	struct hawk_geometry g = { .sets_log2 = HAWK_SETS_LOG2_LEAST, .set_pages = HAWK_SET_PAGES_LEAST, .next = 0 };

	return g;
}

/* Pages in use. They are numbered from 0 without a gap. */
static inline __attribute__((always_inline)) __u32 hawk_geometry_pages(struct hawk_geometry g)
{
	return (g.set_pages << g.sets_log2) + g.next;
}

/* After the step that gives set g.next its page number hawk_geometry_pages(g). */
static inline __attribute__((always_inline)) struct hawk_geometry hawk_geometry_grown(struct hawk_geometry g)
{
	g.next++;
	if (g.next >> g.sets_log2) {
		g.next = 0;
		g.set_pages++;
	}
	if (g.set_pages == HAWK_SET_PAGES_MOST) {
		g.set_pages = HAWK_SET_PAGES_LEAST;
		g.sets_log2++;
	}
	return g;
}

/* The inverse: after the step that takes the last page away. Not for the smallest table. */
static inline __attribute__((always_inline)) struct hawk_geometry hawk_geometry_shrunk(struct hawk_geometry g)
{
	if (g.next == 0) {
		if (g.set_pages == HAWK_SET_PAGES_LEAST) {
			g.set_pages = HAWK_SET_PAGES_MOST;
			g.sets_log2--;
		}
		g.set_pages--;
		g.next = 1u << g.sets_log2;
	}
	g.next--;
	return g;
}

/* Blocks that lie so near one another have their buckets in one page, next to each other: to build a list, or to take it apart, does
 * not bring a page from memory, and an entry of the TLB, for each element. A power of two. Allocators hand out multiples of 8 and 16
 * bytes: blocks of an area are in one page if they are a multiple of 32 bytes apart, so that there are 8 of them at most. A page has room
 * for 288, and with more at once too many find theirs full: with 16 of them 1.5 % (live_arena_growth_test.cpp). */
#define HAWK_AREA_BYTES_LOG2 8
#define HAWK_BLOCKS_OF_AREA_APART_LOG2 5
/* What is above the bits of an address that differ between areas. */
#define HAWK_HASHED_PROGRAM_SHIFT 41
/* The bits of a hash that say which bucket of its page is home (hawk_home_bucket), and from which on they say which others serve when
 * that is full (hawk_bucket_choice). */
#define HAWK_HOME_SHIFT 21
#define HAWK_BESIDE_SHIFT 20

/* The bits of an address in which blocks in different pages differ, without a gap. */
static inline __attribute__((always_inline)) __u64 hawk_area_of(__u64 address)
{
	return address >> HAWK_AREA_BYTES_LOG2 << (HAWK_BLOCKS_OF_AREA_APART_LOG2 - 3) |
	       (address >> 3 & ((1u << (HAWK_BLOCKS_OF_AREA_APART_LOG2 - 3)) - 1));
}

/* What is different in the hashes of an area's blocks. Two that are 32 bytes apart have one home, and the homes of the others are the
 * three beside it. The buckets that serve when it is full are not the same for the two. */
static inline __attribute__((always_inline)) __u64 hawk_number_in_area(__u64 address)
{
	return address >> HAWK_BLOCKS_OF_AREA_APART_LOG2 & ((1u << (HAWK_AREA_BYTES_LOG2 - HAWK_BLOCKS_OF_AREA_APART_LOG2)) - 1);
}

/* The hash of an address in a program: every bit depends on every bit of the address that differs between areas, and those of the home
 * on where in its area it is. Blocks of two programs at one address are in buckets that have nothing to do with each other, nearly
 * always. */
static inline __attribute__((always_inline)) __u64 hawk_live_hash(__u64 address, __u32 program)
{
	__u64 hash = (hawk_area_of(address) ^ (__u64)program << HAWK_HASHED_PROGRAM_SHIFT) * HAWK_GOLDEN_RATIO;

	hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93ull;
	return hash ^ hash >> 32 ^ hawk_number_in_area(address) << HAWK_BESIDE_SHIFT;
}

/* Which set, of 2^sets_log2. The bits of a hash from sets_log2 on that say which page of the set (hawk_position_in_set) are those that
 * this would use next, so that the page stays the same when sets of 8 pages are taken for twice as many of 4. */
static inline __attribute__((always_inline)) __u32 hawk_set_of(__u64 hash, struct hawk_geometry g)
{
	return (__u32)((hash ^ hash >> 2) & ((1ull << g.sets_log2) - 1));
}

/* Which page each sixteenth of a set's addresses is in, the lowest one in the lowest digit. Of two bits of a hash, which say which of four
 * pages it is in, and a third, which says whether it is in another four when there are eight: a row for each, for sets of 4 to 8 pages.
 *
 * All pages of a set have nearly the same share of it: of 4 to 7 pages the fullest have 1/4, 1/4.9, 1/5.8 and 1/6.7. To add the next one moves
 * 19, 21, 19 and 17 % of the blocks, as few as there can be but for some that move twice. When their place was a fraction of the hash
 * alone it was half of them each time. */
#define HAWK_EVERY_SIXTEENTH(page) (0x1111111111111111ull * (page))
#define HAWK_STAYING_SIXTEENTHS HAWK_EVERY_SIXTEENTH(0), HAWK_EVERY_SIXTEENTH(1), HAWK_EVERY_SIXTEENTH(2), HAWK_EVERY_SIXTEENTH(3)
static const __u64 hawk_positions[64] = {
	HAWK_STAYING_SIXTEENTHS, HAWK_STAYING_SIXTEENTHS,
	HAWK_STAYING_SIXTEENTHS, 0x4444440000000000, 0x4444441111111111, 0x4444442222222222, 0x4444443333333333,
	HAWK_STAYING_SIXTEENTHS, 0x5555555555500000, 0x4444444444411111, 0x4444455555522222, 0x4444445555533333,
	HAWK_STAYING_SIXTEENTHS, 0x5555555555555500, 0x4444444444444411, 0x4444455555666622, 0x6666666666666633,
	HAWK_STAYING_SIXTEENTHS, HAWK_EVERY_SIXTEENTH(5), HAWK_EVERY_SIXTEENTH(4), HAWK_EVERY_SIXTEENTH(7), HAWK_EVERY_SIXTEENTH(6),
};

/* Which of a set's `set_pages` pages. */
static inline __attribute__((always_inline)) __u32 hawk_position_in_set(__u64 hash, __u32 sets_log2, __u32 set_pages)
{
	const __u32 row = ((set_pages - HAWK_SET_PAGES_LEAST) & 7) << 3 | (__u32)(hash >> sets_log2 & 7);

	return (__u32)(hawk_positions[row] >> (hash >> 60 << 2)) & 7;
}

/* The number of page `position` of a set. */
static inline __attribute__((always_inline)) __u32 hawk_page_of_set(__u32 set, __u32 position, __u32 sets_log2)
{
	return set + (position << sets_log2);
}

static inline __attribute__((always_inline)) __u32 hawk_page_number(__u64 hash, struct hawk_geometry g)
{
	__u32 set = hawk_set_of(hash, g);
	__u32 pages = g.set_pages + (set < g.next);

	return hawk_page_of_set(set, hawk_position_in_set(hash, g.sets_log2, pages), g.sets_log2);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Whether the hash map beside the arena may have a block at an address, without a look into it. Read by both worlds.
 *
 * Each cell counts the blocks in the hash map whose address belongs to it: raised before such a block is put in, lowered
 * after it has been removed. Where a cell is 0 there is none; that it is not 0 says only that it is worth looking. Of ten million
 * live blocks the hash map has 2,000, or 50,000 if they are 32 bytes apart or less (geometry.h). */
#ifndef HAWKTRACE_OVERFLOW_FILTER_H
#define HAWKTRACE_OVERFLOW_FILTER_H

#include "bpf/live/geometry.h"

#define HAWK_OVERFLOW_CELLS (1u << 18)
#define HAWK_OVERFLOW_CELL_SHIFT 40

/* The cell of an address, from its hash. */
static inline __attribute__((always_inline)) __u32 hawk_overflow_cell(__u64 live_hash)
{
	return live_hash >> HAWK_OVERFLOW_CELL_SHIFT & (HAWK_OVERFLOW_CELLS - 1);
}

#endif

/* Blocks of several phases, between which the harness moves the trace's clock on or begins a generation. What lives at
 * the end is written down by the phase that it was allocated in: a realloc allocates anew, one that fails leaves the
 * block as old as it is, wherever the live table has it. */
#include "ledger.h"

enum { kPhases = 4, kBlocks = 60, kSites = 2 };
#define MIB (1ull << 20)

struct aged {
  struct block block;
  int phase;
};
static struct aged small[kPhases][kBlocks], large[kPhases]; /* the arena takes none of 16 MiB or more */

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}

static struct aged made(size_t n, int phase) {
  struct aged aged = {by_malloc(n), phase};
  ledger_require(aged.block.address != NULL, "malloc works");
  return aged;
}

static void resize(struct aged* aged, size_t n, int phase) {
  aged->block = by_realloc(aged->block, n);
  ledger_require(aged->block.bytes == n, "realloc works");
  aged->phase = phase;
}

static void fail_to_resize(struct aged* aged) {
  size_t before = aged->block.bytes;
  aged->block = by_realloc(aged->block, PTRDIFF_MAX);
  ledger_require(aged->block.bytes == before, "there is no memory for so much");
}

/* What happens to those of the phase before. */
static void treat(struct aged* aged, size_t i, int phase) {
  if (i % 4 == 1) {
    release(aged->block);
    aged->block.address = NULL;
  } else if (i % 4 == 2) {
    resize(aged, i + 100, phase);
  } else if (i % 4 == 3) {
    fail_to_resize(aged);
  }
}

static void run_phase(int phase) {
  for (size_t i = 0; i < kBlocks; i++) small[phase][i] = made(i * 37 % 5000, phase);
  large[phase] = made(16 * MIB + (size_t)phase, phase);
  if (phase == 0) return;
  for (size_t i = 0; i < kBlocks; i++) treat(&small[phase - 1][i], i, phase);
  fail_to_resize(&large[phase - 1]);
}

static uint64_t bytes[kPhases][kSites], count[kPhases][kSites];

static void note(const struct aged* aged) {
  int site = aged->block.site != large[0].block.site;
  if (!aged->block.address) return;
  bytes[aged->phase][site] += aged->block.bytes;
  count[aged->phase][site]++;
}

/* "by_malloc_bytes_2". */
static void put(const char* what, int phase, uint64_t number) {
  char name[32];
  size_t length = strlen(what);
  memcpy(name, what, length);
  name[length] = (char)('0' + phase);
  name[length + 1] = 0;
  ledger_value(name, number);
}

int main(void) {
  ledger_begin();
  for (int phase = 0; phase < kPhases; phase++) {
    run_phase(phase);
    if (phase + 1 == kPhases) break;
    ledger_write("phase\n", 6);
    ledger_wait();
  }
  for (int phase = 0; phase < kPhases; phase++) {
    for (size_t i = 0; i < kBlocks; i++) note(&small[phase][i]);
    note(&large[phase]);
  }
  for (int phase = 0; phase < kPhases; phase++) {
    put("by_malloc_bytes_", phase, bytes[phase][0]);
    put("by_malloc_count_", phase, count[phase][0]);
    put("by_realloc_bytes_", phase, bytes[phase][1]);
    put("by_realloc_count_", phase, count[phase][1]);
  }
  ledger_end();
  return 0;
}

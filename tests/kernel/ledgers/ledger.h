/* What a ledger program is made of. A ledger program allocates by script from named functions and writes down what it
 * did; the harness traces it and demands that hawktrace's numbers are equal.
 *
 *     ledger                                  harness
 *     ledger_begin(): "ready"           ─▶    attaches hawktrace, waits until every probe counts
 *                                       ◀─    one byte: go
 *     the script
 *     ledger_end(): "site f 10 1 10 1"  ─▶    reads up to "done", ends the trace, compares
 *                   "done"
 *                                       ◀─    end of file: the ledger program may exit
 *
 * Nothing in here allocates: no stdio, only write(2). Compiles as C11 and as C++20. */
#ifndef HAWKTRACE_LEDGER_H
#define HAWKTRACE_LEDGER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function that stays one: not inlined, not cloned, not analysed through. Its name is what the report must show. */
#define SITE_FUNCTION __attribute__((noinline, noipa, used)) static

/* What one function did. `freed` counts blocks that this function allocated, wherever they were freed. Aligned to its
 * size, so that the linker lays all of them out as one array. */
struct __attribute__((aligned(64))) ledger_site {
  const char* function;
  uint64_t allocated_bytes;
  uint64_t allocated_count;
  uint64_t freed_bytes;
  uint64_t freed_count;
};

/* One block, and the function that allocated it. */
struct block {
  void* volatile address;
  size_t bytes;
  struct ledger_site* site;
};

/* The linker gathers the sites of all functions between these two. Weak: a program may have none. */
extern struct ledger_site __start_ledger_sites[] __attribute__((weak));
extern struct ledger_site __stop_ledger_sites[] __attribute__((weak));
/* Defined by the counting library (counting_allocator.c) when that is linked. */
void ledger_write_totals(void) __attribute__((weak));
/* Defined by noted_stacks.h when that is included. */
void ledger_write_stacks(void) __attribute__((weak));

/* The site of the enclosing function. */
#define THIS_SITE                                                                                                \
  (__extension__({                                                                                               \
    __attribute__((section("ledger_sites"), used)) static struct ledger_site this_site = {__func__, 0, 0, 0, 0}; \
    &this_site;                                                                                                  \
  }))

/* Counts a block that this function allocated; a null address (the call failed) counts nothing. */
#define ALLOCATED(address, bytes) ledger_allocated(THIS_SITE, (address), (bytes))
/* Counts a realloc made by this function, as C has it: it frees the old block and allocates one, or keeps the old. */
#define REALLOCATED(old, address, bytes) ledger_reallocated(THIS_SITE, (old), (address), (bytes))

static inline struct block ledger_allocated(struct ledger_site* site, void* address, size_t bytes) {
  struct block block = {address, bytes, site};
  __asm__ volatile("" ::: "memory");
  if (address) {
    __atomic_fetch_add(&site->allocated_bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&site->allocated_count, 1, __ATOMIC_RELAXED);
  }
  return block;
}

/* Counts that a block has been freed. */
static inline void ledger_freed(struct block block) {
  if (!block.address || !block.site) return;
  __atomic_fetch_add(&block.site->freed_bytes, block.bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&block.site->freed_count, 1, __ATOMIC_RELAXED);
}

static inline struct block ledger_reallocated(struct ledger_site* site, struct block old, void* address, size_t bytes) {
  if (!address && bytes != 0) return old;
  ledger_freed(old);
  return ledger_allocated(site, address, bytes);
}

/* Frees and counts. A block without a site (older than the trace) is freed only. */
static inline void release(struct block block) {
  free(block.address);
  ledger_freed(block);
}

static inline void ledger_write(const char* text, size_t length) {
  while (length > 0) {
    ssize_t written = write(1, text, length);
    if (written < 0 && errno != EINTR) _exit(98);
    if (written > 0) {
      text += written;
      length -= (size_t)written;
    }
  }
}

static inline size_t ledger_format(char* to, uint64_t number) {
  char digits[20];
  size_t count = 0, i;
  do {
    digits[count++] = (char)('0' + number % 10);
    number /= 10;
  } while (number);
  for (i = 0; i < count; i++) to[i] = digits[count - 1 - i];
  return count;
}

/* Writes "<word> <name> <number>...\n". */
static inline void ledger_line(const char* word, const char* name, const uint64_t* numbers, size_t count) {
  char line[512];
  size_t at = 0, i;
  for (i = 0; word[i] && at < 200; i++) line[at++] = word[i];
  line[at++] = ' ';
  for (i = 0; name[i] && at < 400; i++) line[at++] = name[i];
  for (i = 0; i < count; i++) {
    line[at++] = ' ';
    at += ledger_format(line + at, numbers[i]);
  }
  line[at++] = '\n';
  ledger_write(line, at);
}

/* Reports to the harness that `condition`, a premise of the test, does not hold: "the block moved". */
static inline void ledger_require(int condition, const char* what) {
  if (condition) return;
  ledger_line("broken", what, NULL, 0);
  _exit(99);
}

/* The same of what holds because the program is traced, or because of what the test does; when it is run alone, it need
 * not. */
static inline void ledger_require_of_traced(int condition, const char* what) {
  ledger_line(condition ? "holds" : "broken_if_traced", what, NULL, 0);
}

/* A number for the harness; see README.md for those that it checks by itself. */
static inline void ledger_value(const char* name, uint64_t number) { ledger_line("value", name, &number, 1); }

/* The numbers of this function, or of this value, differ from run to run, as the threads happen to run. All else is
 * compared with a run of the program alone. */
static inline void ledger_varies(const char* name) { ledger_line("varies", name, NULL, 0); }

/* A loss that hawktrace must count, exactly so often. Every other one must be zero. */
static inline void ledger_loss(const char* json_name, uint64_t number) { ledger_line("loss", json_name, &number, 1); }

/* Allocations by a function that is not ours: made and freed exactly `number` times. */
static inline void ledger_foreign(const char* function, uint64_t number) {
  ledger_line("foreign", function, &number, 1);
}

/* Blocks until the harness sends a byte or closes the pipe. */
static inline void ledger_wait(void) {
  char byte;
  while (read(0, &byte, 1) < 0 && errno == EINTR) continue;
}

/* What was counted while the program got ready is older than the trace. */
static inline void forget_ledger(void) {
  struct ledger_site* site;
  for (site = __start_ledger_sites; site < __stop_ledger_sites; site++)
    site->allocated_bytes = site->allocated_count = site->freed_bytes = site->freed_count = 0;
}

/* Everything up to here is older than the trace. */
static inline void ledger_begin(void) {
  ledger_write("ready\n", 6);
  ledger_wait();
}

/* Writes the ledger. */
static inline void ledger_close(void) {
  struct ledger_site* site;
  for (site = __start_ledger_sites; site < __stop_ledger_sites; site++)
    ledger_line("site", site->function, &site->allocated_bytes, 4);
  if (ledger_write_totals) ledger_write_totals();
  if (ledger_write_stacks) ledger_write_stacks();
  ledger_write("done\n", 5);
}

/* Writes the ledger and waits for the end of the trace. */
static inline void ledger_end(void) {
  ledger_close();
  ledger_wait();
}

#ifdef __cplusplus
}
#endif
#endif

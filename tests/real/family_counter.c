/* Independent witness, preloaded into a program and all that it starts: each process counts the calls that it makes to
 * its allocator in a file of its own, which it maps, so that its numbers are there however it ends.
 *
 * Nothing is shared with hawktrace but the rule that only a thread's outermost call counts, with the size that was
 * asked for. A process that fork has made begins anew: what it knows lies in memory that the kernel clears in a copy
 * (MADV_WIPEONFORK), and not in one that shares it (vfork), whose calls are its maker's. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/real/family_account.h"
#include "tests/real/next_allocator.h"

enum { kSlotBits = 22, kSlots = 1 << kSlotBits };

struct block {
  uintptr_t address; /* 0: empty */
  size_t bytes;
};

/* Cleared in a copy of the process. */
static struct own {
  unsigned lock;
  size_t used;
  struct hawk_family_account* account; /* NULL: none yet */
  struct hawk_family_account before;   /* that is mapped */
  struct block slots[kSlots];
} * own;

static char directory[4096];
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

/* The first allocation of a program is the dynamic linker's, long before there is a second thread. */
static void begin_program(void) {
  resolving = true;
  resolve_next();
  own = mmap(NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (own == MAP_FAILED || madvise(own, sizeof(*own), MADV_WIPEONFORK) != 0) die("counter: no memory for its table\n");
  resolving = false;
}

/* The process's own file. */
static struct hawk_family_account* map_account(void) {
  char path[sizeof(directory) + 16];
  snprintf(path, sizeof(path), "%s/%ld", directory, syscall(SYS_getpid));
  int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  void* shared = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof(struct hawk_family_account)) == 0)
    shared = mmap(NULL, sizeof(struct hawk_family_account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) die("counter: no file can be mapped in " HAWK_FAMILY_VARIABLE "\n");
  close(file);
  return shared;
}

/* The environment is not known before. */
__attribute__((constructor)) static void begin_account(void) {
  const char* path = getenv(HAWK_FAMILY_VARIABLE);
  if (!path || strlen(path) >= sizeof(directory)) die("counter: " HAWK_FAMILY_VARIABLE " is not set\n");
  strcpy(directory, path);
  depth++; /* nothing here counts */
  if (!next.free) begin_program();
  struct hawk_family_account* account = map_account();
  uint64_t unknown_frees = account->unknown_frees; /* before it ran this program */
  *account = own->before;
  account->unknown_frees += unknown_frees;
  own->account = account;
  depth--;
}

/* ---- the table of blocks: open addressing behind a lock ---- */

static void lock_account(void) {
  while (__atomic_exchange_n(&own->lock, 1, __ATOMIC_ACQUIRE)) syscall(SYS_sched_yield);
}
static void unlock_account(void) { __atomic_store_n(&own->lock, 0, __ATOMIC_RELEASE); }

static size_t first_slot(uintptr_t address) {
  return (uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u >> (64 - kSlotBits);
}

static size_t find(uintptr_t address) {
  size_t at = first_slot(address);
  while (own->slots[at].address && own->slots[at].address != address) at = (at + 1) % kSlots;
  return at;
}

/* Empties a slot and moves up what would no longer be found. */
static void erase(size_t hole) {
  for (size_t at = (hole + 1) % kSlots; own->slots[at].address; at = (at + 1) % kSlots) {
    size_t distance = (at - first_slot(own->slots[at].address)) % kSlots;
    if (distance < (at - hole) % kSlots) continue;
    own->slots[hole] = own->slots[at];
    hole = at;
  }
  own->slots[hole].address = 0;
}

static struct hawk_family_account* account(void) {
  if (!directory[0]) return &own->before;
  if (!own->account) own->account = map_account(); /* a copy, whose first call this is */
  return own->account;
}

static void keep(void* address, size_t bytes) {
  if (own->used + 1 >= kSlots / 2) {
    account()->lost++;
    return;
  }
  size_t at = find((uintptr_t)address);
  if (own->slots[at].address) die("counter: the allocator gave out a block that is in use\n");
  own->slots[at] = (struct block){(uintptr_t)address, bytes};
  own->used++;
}

static bool take(void* address, size_t* bytes) {
  size_t at = find((uintptr_t)address);
  if (!own->slots[at].address) return false;
  *bytes = own->slots[at].bytes;
  erase(at);
  own->used--;
  return true;
}

/* ---- counting: with the lock held ---- */

static void came(void* address, size_t bytes) {
  if (!address) return;
  keep(address, bytes);
  account()->allocated_bytes += bytes;
  account()->allocated_count++;
}

static void went(size_t bytes) {
  account()->freed_bytes += bytes;
  account()->freed_count++;
}

/* Begins a call; true: it counts. */
static bool enter(void) {
  if (depth++ > 0) return false;
  if (!next.free && !resolving) begin_program();
  return true;
}

static void leave(void) { depth--; }

static void count_unknown_free(void) { account()->unknown_frees++; }

#include "tests/real/counted_calls.h"

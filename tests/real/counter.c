/* Independent counter, preloaded: counts every call that the program makes to its allocator and passes it on.
 *
 * Nothing is shared with hawktrace but the rule that only a thread's outermost call counts, with the size that was
 * asked for. The account lies in a file that the test maps too; the test sets its switch while the process is stopped
 * with no thread inside, so that both counters start with the same call. Not made for processes that fork. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/real/account.h"
#include "tests/real/next_allocator.h"

static struct hawk_account before_main; /* until the shared one is mapped */
static struct hawk_account* account = &before_main;
/* Initial-exec: reached without a call, so that no code runs between a function's entry and its mark. */
static __thread unsigned depth __attribute__((tls_model("initial-exec")));

static void add(uint64_t* to, uint64_t value) { __atomic_fetch_add(to, value, __ATOMIC_SEQ_CST); }

/* The first allocation of a process is the dynamic linker's, long before there is a second thread. */
static void resolve(void) {
  resolving = true;
  resolve_next();
  resolving = false;
}

__attribute__((constructor)) static void map_account(void) {
  const char* path = getenv(HAWK_ACCOUNT_VARIABLE);
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  void* shared =
      file < 0 ? MAP_FAILED : mmap(NULL, sizeof(struct hawk_account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) die("counter: " HAWK_ACCOUNT_VARIABLE " names no file that can be mapped\n");
  close(file);
  account = shared;
}

/* ---- the table of blocks: open addressing in shards, each behind a lock --------------------------------------------
 */

enum { kShardBits = 6, kSlotBits = 16, kSlots = 1 << kSlotBits };

struct block {
  uintptr_t address; /* 0: empty */
  size_t bytes;
};

static struct shard {
  _Alignas(64) pthread_mutex_t lock;
  size_t used;
  struct block slots[kSlots];
} shards[1 << kShardBits]; /* all zeros: pages that are not touched cost nothing */

static uint64_t hash(uintptr_t address) { return (uint64_t)(address >> 4) * 0x9e3779b97f4a7c15u; }
static struct shard* shard_of(uintptr_t address) { return &shards[hash(address) >> (64 - kShardBits)]; }
static size_t first_slot(uintptr_t address) { return hash(address) >> (64 - kShardBits - kSlotBits) & (kSlots - 1); }

/* The slot that holds the address, or the empty one where it belongs. */
static size_t find(const struct shard* shard, uintptr_t address) {
  size_t at = first_slot(address);
  while (shard->slots[at].address && shard->slots[at].address != address) at = (at + 1) % kSlots;
  return at;
}

/* Empties a slot and moves up what would no longer be found. */
static void erase(struct shard* shard, size_t hole) {
  for (size_t at = (hole + 1) % kSlots; shard->slots[at].address; at = (at + 1) % kSlots) {
    size_t distance = (at - first_slot(shard->slots[at].address)) % kSlots;
    if (distance < (at - hole) % kSlots) continue;
    shard->slots[hole] = shard->slots[at];
    hole = at;
  }
  shard->slots[hole].address = 0;
}

static void keep(void* address, size_t bytes) {
  struct shard* shard = shard_of((uintptr_t)address);
  pthread_mutex_lock(&shard->lock);
  if (shard->used + 1 < kSlots) {
    size_t at = find(shard, (uintptr_t)address);
    if (shard->slots[at].address) die("counter: the allocator gave out a block that is in use\n");
    shard->slots[at] = (struct block){(uintptr_t)address, bytes};
    shard->used++;
    add(&account->live_bytes, bytes);
    add(&account->live_count, 1);
  } else {
    add(&account->lost, 1);
  }
  pthread_mutex_unlock(&shard->lock);
}

/* Takes a block out; false: it is not known. */
static bool take(void* address, size_t* bytes) {
  struct shard* shard = shard_of((uintptr_t)address);
  pthread_mutex_lock(&shard->lock);
  size_t at = find(shard, (uintptr_t)address);
  bool known = shard->slots[at].address != 0;
  if (known) {
    *bytes = shard->slots[at].bytes;
    erase(shard, at);
    shard->used--;
    add(&account->live_bytes, -*bytes);
    add(&account->live_count, -1);
  }
  pthread_mutex_unlock(&shard->lock);
  return known;
}

/* ---- counting -------------------------------------------------------------------------------------------------------
 */

/* Begins a call; true: it counts. */
static bool enter(void) {
  if (depth++ > 0) return false;
  add(&account->inside, 1);
  if (!next.free && !resolving) resolve();
  return __atomic_load_n(&account->counting, __ATOMIC_SEQ_CST) != 0;
}

static void leave(void) {
  if (--depth > 0) return;
  add(&account->calls, 1);
  add(&account->inside, -1);
}

static void came(void* address, size_t bytes) {
  if (!address) return;
  keep(address, bytes);
  add(&account->allocated_bytes, bytes);
  add(&account->allocated_count, 1);
}

static void went(size_t bytes) {
  add(&account->freed_bytes, bytes);
  add(&account->freed_count, 1);
}

static void count_unknown_free(void) { add(&account->unknown_frees, 1); }

/* Each shard of the table has a lock of its own, and the account is added to atomically. */
static void lock_account(void) {}
static void unlock_account(void) {}

#include "tests/real/counted_calls.h"

/* A process with many distinct stacks that are all active.
 *
 *   bench_stacks COUNT
 *   stdin:  sweep              from each of COUNT stacks allocate a block, and free the one it allocated before
 *   stdout: swept
 *
 * The stacks differ in the path they take through two functions that call each other: number n goes the way of its 15
 * bits. So they are some 20 frames deep, and share frames as those of a real program do. */
#include <stdio.h>
#include <stdlib.h>

enum { kBits = 15, kMaxStacks = 1 << kBits };

static void* blocks[kMaxStacks];

static void* right(unsigned path, int bits);

#define STEP(name)                                                                                                \
  __attribute__((noipa)) static void* name(unsigned path, int bits) {                                             \
    void* block = bits == 0 ? malloc(32 + path % 64) : path >> --bits & 1 ? right(path, bits) : left(path, bits); \
    __asm__ volatile("" ::: "memory");                                                                            \
    return block;                                                                                                 \
  }
static void* left(unsigned path, int bits);
STEP(left)
STEP(right)

static void sweep(unsigned count) {
  for (unsigned path = 0; path < count; path++) {
    free(blocks[path]);
    blocks[path] = left(path, kBits);
  }
}

int main(int argc, char** argv) {
  const int count = argc == 2 ? atoi(argv[1]) : 0;
  char command[16];
  if (count < 1 || count > kMaxStacks) {
    fprintf(stderr, "usage: %s COUNT, from 1 to %d\n", argv[0], kMaxStacks);
    return 2;
  }
  while (scanf("%15s", command) == 1) {
    sweep((unsigned)count);
    puts("swept");
    fflush(stdout);
  }
  return 0;
}

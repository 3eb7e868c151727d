/* A process with many distinct stacks that are all active.
 *
 *   bench_stacks
 *   stdin:  sweep COUNT        from each of COUNT stacks allocate a block, and free the one it allocated before
 *   stdout: "= COUNT"
 *
 * The stacks differ in the path they take through two functions that call each other: number n goes the way of its 17
 * bits. So they are some 22 frames deep, and share frames as those of a real program do. */
#include <stdio.h>
#include <stdlib.h>

enum { kBits = 17, kMaxStacks = 1 << kBits };

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
  int count;
  if (argc != 1) {
    fprintf(stderr, "usage: %s\n", argv[0]);
    return 2;
  }
  while (scanf(" sweep %d", &count) == 1) {
    if (count < 1 || count > kMaxStacks) return 2;
    sweep((unsigned)count);
    printf("= %d\n", count);
    fflush(stdout);
  }
  return 0;
}

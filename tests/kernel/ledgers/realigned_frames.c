/* Functions that align their frames anew: GCC finds their caller's frame through memory (DRAP), clang through rbp. By
 * AVX vectors that live across a call, by aligned arrays, and by both together with alloca. */
#include <alloca.h>
#include <immintrin.h>

#include "noted_stacks.h"

enum { kRounds = 50 };

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION struct block with_aligned_array(size_t n) {
  _Alignas(64) volatile char room[128];
  room[n % 128] = 1;
  struct block block = by_malloc(n);
  ledger_require(room[n % 128] == 1 && (uintptr_t)room % 64 == 0, "the array is aligned");
  return block;
}

SITE_FUNCTION struct block with_aligned_array_and_alloca(size_t n) {
  _Alignas(128) volatile char room[256];
  volatile char* more = alloca(n + 1);
  room[n % 256] = 1;
  more[n] = 2;
  struct block block = with_aligned_array(n);
  ledger_require(room[n % 256] == 1 && more[n] == 2, "the arrays keep what is written");
  return block;
}

/* Seven arguments: the last lies on the stack, where the aligned frame has to find it. */
SITE_FUNCTION struct block with_arguments_on_the_stack(size_t n, int a, int b, int c, int d, int e, int f, int g) {
  _Alignas(32) volatile int room[16];
  volatile char* more = alloca(n + 8);
  room[n % 16] = a + b + c + d + e + f + g;
  more[n] = 3;
  struct block block = with_aligned_array_and_alloca(n);
  ledger_require(room[n % 16] == a + b + c + d + e + f + g && more[n] == 3, "the arguments are found");
  return block;
}

#define WITH_VECTORS __attribute__((target("avx2")))

SITE_FUNCTION WITH_VECTORS struct block with_vectors(size_t n, const int* numbers) {
  __m256i left = _mm256_loadu_si256((const __m256i*)numbers);
  volatile __m256i kept = _mm256_add_epi32(left, left);
  struct block block = with_arguments_on_the_stack(n, 1, 2, 3, 4, 5, 6, 7);
  left = _mm256_sub_epi32(kept, left);
  int back[8];
  _mm256_storeu_si256((__m256i*)back, left);
  ledger_require(memcmp(back, numbers, sizeof(back)) == 0, "the vectors live across the call");
  return block;
}

int main(void) {
  int numbers[8];
  for (int i = 0; i < 8; i++) numbers[i] = i * i + 3;
  const int has_vectors = __builtin_cpu_supports("avx2");
  ledger_begin();
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block =
        i % 2 && has_vectors ? with_vectors(i, numbers) : with_arguments_on_the_stack(i, 2, 3, 4, 5, 6, 7, (int)i);
    if (i % 3) release(block);
  }
  ledger_end();
  return 0;
}

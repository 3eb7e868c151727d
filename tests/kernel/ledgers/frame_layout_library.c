/* One of several libraries whose code has the same shape at the same offsets, but whose frames (LEDGER_FRAME_WORDS)
 * have other sizes: a rule of one, followed in the other, leads into words that look like return addresses. */
#include <stddef.h>
#include <stdint.h>

typedef void (*function)(size_t);
void through_library(function callee, size_t n, uintptr_t decoy);

__attribute__((noinline)) static void inner(function callee, size_t n, uintptr_t decoy) {
  volatile uintptr_t room[LEDGER_FRAME_WORDS + 32];
  for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++) room[i] = decoy;
  callee(n);
  room[0] = 0;
}

void through_library(function callee, size_t n, uintptr_t decoy) {
  volatile uintptr_t room[LEDGER_FRAME_WORDS + 64];
  for (size_t i = 0; i < sizeof(room) / sizeof(room[0]); i++) room[i] = decoy;
  inner(callee, n, decoy);
  room[0] = 0;
}

/* Code that a process generates at run time, without a file and without an unwind table. With a frame pointer its
 * caller can be guessed, without one it cannot; the numbers are right in both cases. */
#include <sys/mman.h>

#include "ledger.h"

enum { kRounds = 60, kPage = 4096 };

typedef void (*generated)(void (*callee)(size_t), size_t argument);

/* push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov %rsi, %rdi; call *%rax; pop %rbp; ret */
static const unsigned char kWithFrame[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8,
                                           0x48, 0x89, 0xf7, 0xff, 0xd0, 0x5d, 0xc3};
/* sub $40, %rsp; mov %rdi, %rax; mov %rsi, %rdi; call *%rax; add $40, %rsp; ret */
static const unsigned char kWithoutFrame[] = {0x48, 0x83, 0xec, 0x28, 0x48, 0x89, 0xf8, 0x48, 0x89,
                                              0xf7, 0xff, 0xd0, 0x48, 0x83, 0xc4, 0x28, 0xc3};

static struct block last;

SITE_FUNCTION void below_frame(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void below_no_frame(size_t n) { last = ALLOCATED(malloc(n), n); }

SITE_FUNCTION void call_generated(generated function, void (*callee)(size_t), size_t n) {
  volatile char room[72];
  room[n % 72] = 1;
  function(callee, n);
  ledger_require(room[n % 72] == 1, "the generated code keeps its hands off the stack");
}

static generated write_function(char* to, const unsigned char* code, size_t bytes) {
  memcpy(to, code, bytes);
  return (generated)(uintptr_t)to;
}

int main(void) {
  char* region = mmap(NULL, kPage, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(region != MAP_FAILED, "mmap works");
  generated with_frame = write_function(region, kWithFrame, sizeof(kWithFrame));
  generated without_frame = write_function(region + 64, kWithoutFrame, sizeof(kWithoutFrame));
  ledger_begin();
  for (size_t i = 1; i <= kRounds; i++) {
    call_generated(with_frame, below_frame, i);
    if (i % 3) release(last);
    call_generated(without_frame, below_no_frame, i);
    if (i % 2) release(last);
  }
  ledger_end();
  return 0;
}

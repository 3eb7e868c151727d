/* Timers interrupt the allocator's calls every few instructions, with handlers that interrupt each
 * other, on a stack of their own. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "hostile.h"

static volatile uint64_t handled;
static void handle(int number) {
  (void)number;
  __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

int main(void) {
  static char handler_stack[1 << 16];
  stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  ledger_require(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "there are timers");
  ledger_begin();
  struct itimerspec often = {{0, 50000}, {0, 50000}};
  struct itimerval other = {{0, 70}, {0, 70}};
  timer_settime(timer, 0, &often, NULL);
  setitimer(ITIMER_REAL, &other, NULL);
  allocate_a_while(5000);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  timer_delete(timer);
  ledger_end();
  return handled > 50 ? 0 : 1;
}

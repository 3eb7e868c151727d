/* Killed in the middle, after so many allocations as the argument says; or it aborts, faults, runs out of processor
 * time, or calls exit_group from another thread. */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

#include "relay.h"
#include "shared_ledger.h"

static struct ledger_site* ledger;
static uint64_t limit;
static volatile int* volatile nowhere;

static void end_like(const char* how) {
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "fault") == 0) *nowhere = 1;
  if (strcmp(how, "trap") == 0) __builtin_trap();
  if (strcmp(how, "group") == 0) syscall(SYS_exit_group, 7);
}

static struct relay relay;

static void* allocate(void* how) {
  relay_send(relay.to_target);
  relay_wait(relay.to_helper);
  for (size_t i = 1;; i++) {
    allocate_into(ledger, i % 300 + 1, i % 3 != 0);
    if (ledger->allocated_count >= limit) end_like(how);
  }
  return NULL;
}

int main(int argc, char** argv) {
  (void)argc;
  relay_open(&relay);
  ledger = open_shared_ledger();
  limit = 1000 + (uint64_t)atoi(argv[2]);
  pid_t child = fork_bound();
  if (child == 0) {
    pthread_t thread;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    ledger_require(pthread_create(&thread, NULL, allocate, argv[1]) == 0, "a thread can be made");
    pthread_join(thread, NULL);
  }
  trace_instead(child);
  relay_wait(relay.to_target);
  ledger_begin();
  relay_send(relay.to_helper);
  if (strcmp(argv[1], "kill") == 0) {
    while (*(volatile uint64_t*)&ledger->allocated_count < limit) continue;
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say("ended", (uint64_t)status);
  close_shared_ledger(ledger);
  return 0;
}

/* Its memory cgroup is full, and the kernel kills it. */
#include "relay.h"
#include "shared_ledger.h"
#include "tests/kernel/harness/memory_cgroup.h"

int main() {
  relay relay;
  relay_open(&relay);
  ledger_site* ledger = open_shared_ledger();
  int status = 0;
  {
    const hawk::MemoryCgroup group;
    group.enter();
    const pid_t child = fork_bound();
    if (child == 0) {
      relay_wait(relay.to_helper);
      for (;;) {
        allocate_into(ledger, 10000, 0);
        memset(malloc(1 << 16), 1, 1 << 16);
        ledger->allocated_bytes += 1 << 16;
        ledger->allocated_count++;
      }
    }
    group.leave();
    group.limit(48 << 20);
    trace_instead(child);
    ledger_begin();
    relay_send(relay.to_helper);
    waitpid(child, &status, 0);
  }
  say("ended", (uint64_t)status);
  close_shared_ledger(ledger);
  return 0;
}

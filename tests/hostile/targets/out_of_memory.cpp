/* Its memory cgroup is full, and the kernel kills it. */
#include "relay.h"
#include "shared_books.h"
#include "tests/kernel/harness/memory_cgroup.h"

int main() {
  relay relay;
  relay_open(&relay);
  ledger_site* books = open_shared_books();
  int status = 0;
  {
    const hawk::MemoryCgroup group;
    group.enter();
    const pid_t child = fork_bound();
    if (child == 0) {
      relay_wait(relay.to_helper);
      for (;;) {
        allocate_into(books, 10000, 0);
        memset(malloc(1 << 16), 1, 1 << 16);
        books->allocated_bytes += 1 << 16;
        books->allocated_count++;
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
  close_shared_books(books);
  return 0;
}

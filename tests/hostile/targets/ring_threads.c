/* Threads of the kernel's in the process: an io_uring that polls, and its workers, which read into blocks of the heap.
 */
#include <linux/io_uring.h>

#include "hostile.h"

static unsigned* at_offset(char* ring, uint32_t offset) { return (unsigned*)(ring + offset); }

int main(void) {
  struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 60000};
  int ring = (int)syscall(SYS_io_uring_setup, 8, &params);
  ledger_require(ring >= 0, "there is io_uring");
  size_t length = params.sq_off.array + params.sq_entries * sizeof(unsigned) + 4096;
  char* queue = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
  char* done = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_CQ_RING);
  struct io_uring_sqe* entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
  ledger_require(queue != MAP_FAILED && done != MAP_FAILED && entries != MAP_FAILED, "its queues can be mapped");
  int zero = open("/dev/zero", O_RDONLY);
  ledger_begin();
  for (unsigned i = 0; i < 200; i++) {
    struct block block = by_malloc(4096 + i);
    unsigned slot = i % params.sq_entries;
    entries[slot] = (struct io_uring_sqe){
        .opcode = IORING_OP_READ, .flags = IOSQE_ASYNC, .fd = zero, .addr = (uintptr_t)block.address, .len = 4096};
    at_offset(queue, params.sq_off.array)[slot] = slot;
    __atomic_store_n(at_offset(queue, params.sq_off.tail), i + 1, __ATOMIC_RELEASE);
    syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0);
    while (__atomic_load_n(at_offset(done, params.cq_off.tail), __ATOMIC_ACQUIRE) != i + 1) continue;
    __atomic_store_n(at_offset(done, params.cq_off.head), i + 1, __ATOMIC_RELEASE);
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}

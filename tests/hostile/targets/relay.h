/* A second process that acts on the traced one from outside: they synchronize by bytes in two pipes. */
#ifndef HAWKTRACE_RELAY_H
#define HAWKTRACE_RELAY_H

#include "hostile.h"

struct relay {
  int to_helper[2];
  int to_target[2];
};

__attribute__((unused)) static void relay_open(struct relay* relay) {
  ledger_require(pipe(relay->to_helper) == 0 && pipe(relay->to_target) == 0, "there are pipes");
}
__attribute__((unused)) static void relay_send(const int* pipe_ends) {
  while (write(pipe_ends[1], "x", 1) < 0 && errno == EINTR) continue;
}
__attribute__((unused)) static void relay_wait(const int* pipe_ends) {
  char byte;
  while (read(pipe_ends[0], &byte, 1) < 0 && errno == EINTR) continue;
}

#endif

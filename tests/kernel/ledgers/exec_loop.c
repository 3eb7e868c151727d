/* A program that replaces itself with itself, again and again, until it is written to. The time without libc is
 * long: that of a program that is being loaded. */
#include <poll.h>

#include "ledger.h"

int main(int argc, char** argv) {
  struct pollfd stop = {.fd = 0, .events = POLLIN};
  char again[] = "again";
  char* arguments[] = {argv[0], again, NULL};
  if (argc == 1) ledger_write("ready\n", 6);
  if (poll(&stop, 1, 0) == 0) execv("/proc/self/exe", arguments);
  ledger_close();
  ledger_wait();
  return 0;
}

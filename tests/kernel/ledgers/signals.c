/* Says which signals it is sent, in their order and with their values, until SIGTERM. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "ledger.h"

int main(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  int number = 0;
  ledger_write("ready\n", 6);
  while (number != SIGTERM) {
    siginfo_t info = {0};
    char line[64];
    number = sigwaitinfo(&all, &info);
    if (number <= 0) continue;
    const int value = info.si_code == SI_QUEUE ? info.si_value.sival_int : 0;
    const int length = snprintf(line, sizeof(line), "signal %d value %d\n", number, value);
    ledger_write(line, (size_t)length);
  }
  return 0;
}

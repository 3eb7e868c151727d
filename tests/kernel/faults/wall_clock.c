/* Preloaded into hawktrace by ages_test.cpp: the system's clock, which may be set, jumps by years each time that it is
 * asked, forwards and back. CLOCK_MONOTONIC goes on as it does, and the kernel has only that. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kJumpSeconds = 3 * 365 * 24 * 3600 };

static time_t jumped(time_t seconds) {
  static unsigned asked;
  return seconds + ((__atomic_add_fetch(&asked, 1, __ATOMIC_RELAXED) & 1) ? -kJumpSeconds : kJumpSeconds);
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec = jumped(now->tv_sec);
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  int result = (int)syscall(SYS_gettimeofday, now, zone);
  if (!result) now->tv_sec = jumped(now->tv_sec);
  return result;
}

time_t time(time_t* seconds) {
  struct timespec now = {0, 0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds) *seconds = now.tv_sec;
  return now.tv_sec;
}

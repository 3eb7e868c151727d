/* A process with many threads, which together allocate some five thousand times a second.
 *
 *   bench_threads COUNT        threads besides the first; prints "= COUNT" once all run, ends when its input ends */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_barrier_t all_run;
static struct timespec rest;

static void* work(void* unused) {
  pthread_barrier_wait(&all_run);
  for (;;) {
    void* block = malloc(64);
    __asm__ volatile("" : : "r"(block) : "memory");
    free(block);
    nanosleep(&rest, NULL); /* the rate of its calls: nothing is waited for */
  }
  return unused;
}

int main(int argc, char** argv) {
  const int count = argc == 2 ? atoi(argv[1]) : 0;
  if (count < 1) {
    fprintf(stderr, "usage: %s COUNT\n", argv[0]);
    return 2;
  }
  rest.tv_sec = count / 5000;
  rest.tv_nsec = count % 5000 * 200000L;
  pthread_barrier_init(&all_run, NULL, (unsigned)count + 1);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) != 0) return 1;
  }
  pthread_barrier_wait(&all_run);
  printf("= %d\n", count);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}

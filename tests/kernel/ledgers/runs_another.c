/* Allocates and frees; then it replaces itself with a program that allocates more. Waits behind each of the two. */
#include <stdlib.h>
#include <unistd.h>

static void say(const char* word, size_t length) {
  char byte;

  if (write(STDOUT_FILENO, word, length) != (ssize_t)length || read(STDIN_FILENO, &byte, 1) < 0) abort();
}

__attribute__((noinline)) static void work(size_t blocks, int frees) {
  for (size_t i = 0; i < blocks; i++) {
    void* volatile block = malloc(100);

    if (frees) free(block);
  }
}

int main(int argc, char** argv) {
  if (argc == 1) {
    char* again[] = {argv[0], (char*)"again", NULL};

    say("ready\n", 6);
    work(1000, 1);
    say("freed\n", 6);
    execv("/proc/self/exe", again);
    abort();
  }
  work(2000, 0);
  say("done\n", 5);
  return 0;
}

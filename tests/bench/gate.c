/* Waits for a line on its standard input, then becomes the given command: so a tracer can be attached before it starts.
 *
 *   bench_gate COMMAND ARGS... */
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char line[8];
  if (argc < 2 || fgets(line, sizeof(line), stdin) == NULL) return 2;
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}

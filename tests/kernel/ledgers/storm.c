/* storm PROCESSES COUNT: what busy strangers do to hawktrace, and no allocation. Each of PROCESSES maps code, makes
 * data code and forks, COUNT times, and now and then runs another program. Begins at a byte, ends when all is done. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ledger.h"

enum { kPage = 4096, kForkEvery = 256, kExecEvery = 1024 };

static void wait_for(pid_t child) {
  int status;
  ledger_require(child > 0 && waitpid(child, &status, 0) == child && status == 0, "a child ends well");
}

static void map_code(int file) {
  char* code = mmap(NULL, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  char* data = mmap(NULL, kPage, PROT_READ, MAP_PRIVATE, file, 0);
  ledger_require(code != MAP_FAILED && data != MAP_FAILED, "the program can be mapped");
  ledger_require(mprotect(data, kPage, PROT_READ | PROT_EXEC) == 0, "data can become code");
  munmap(code, kPage);
  munmap(data, kPage);
}

static void rage(size_t count, const char* program) {
  const int file = open(program, O_RDONLY | O_CLOEXEC);
  ledger_require(file >= 0, "the program can be opened");
  for (size_t i = 0; i < count; i++) {
    map_code(file);
    if (i % kForkEvery) continue;
    const pid_t child = fork();
    if (!child && i % kExecEvery) _exit(0);
    if (!child) execl("/bin/true", "true", (char*)NULL);
    wait_for(child);
  }
  _exit(0);
}

int main(int argc, char** argv) {
  ledger_require(argc == 3, "two arguments");
  const int processes = atoi(argv[1]);
  const size_t count = (size_t)atoi(argv[2]);
  pid_t children[16];
  ledger_require(processes <= 16, "no more than 16 processes");
  ledger_begin();
  for (int i = 0; i < processes; i++) {
    children[i] = fork();
    if (!children[i]) rage(count, "/proc/self/exe");
  }
  for (int i = 0; i < processes; i++) wait_for(children[i]);
  ledger_end();
  return 0;
}

/* DIRECTORY: maps code of files for a moment and puts other things under their names meanwhile: a FIFO, a symbolic link
 * to one, a directory, a link that leads round in a circle. Says as "opened_pipes" how many FIFOs are open for reading.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ledger.h"

enum { kFiles = 200, kCodeBytes = 4096 };

SITE_FUNCTION void allocate(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  if (n % 3 == 0) release(block);
}

static void name_of(char* name, const char* kind, size_t number) {
  strcpy(name, kind);
  name[strlen(kind) + ledger_format(name + strlen(kind), number)] = '\0';
}

static void put_in_place(const char* name, size_t number) {
  char other[32], pipe_name[32];
  name_of(pipe_name, "pipe", number);
  name_of(other, "other", number);
  ledger_require(mkfifo(pipe_name, 0666) == 0, "a FIFO can be made");
  if (number % 4 == 0) {
    ledger_require(link(pipe_name, other) == 0, "the FIFO can have another name");
  } else if (number % 4 == 1) {
    ledger_require(symlink(pipe_name, other) == 0, "a link to it can be made");
  } else if (number % 4 == 2) {
    ledger_require(symlink(name, other) == 0, "a link to its own name can be made");
  } else {
    ledger_require(unlink(name) == 0 && mkdir(other, 0777) == 0, "a directory can be made");
  }
  ledger_require(rename(other, name) == 0, "the name can be taken");
}

static void map_and_replace(size_t number) {
  static const char kCode[kCodeBytes];
  char name[32];
  name_of(name, "code", number);
  const int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0666);
  ledger_require(file >= 0 && write(file, kCode, sizeof(kCode)) == sizeof(kCode), "a file can be written");
  void* code = mmap(NULL, kCodeBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ledger_require(code != MAP_FAILED, "it can be mapped");
  put_in_place(name, number);
  ledger_require(munmap(code, kCodeBytes) == 0, "it can be unmapped");
  /* It stays open: the next file shall be another one, not one that got its inode number. */
}

static size_t opened_pipes(void) {
  size_t opened = 0;
  for (size_t number = 0; number < kFiles; number++) {
    char name[32];
    name_of(name, "pipe", number);
    /* ENXIO: it is not open for reading anywhere. */
    const int writer = open(name, O_WRONLY | O_NONBLOCK);
    opened += writer >= 0 || errno != ENXIO;
  }
  return opened;
}

int main(int argc, char** argv) {
  ledger_require(argc == 2 && chdir(argv[1]) == 0, "a directory");
  ledger_begin();
  for (size_t i = 0; i < kFiles; i++) {
    allocate(i + 1);
    map_and_replace(i);
  }
  ledger_value("opened_pipes", opened_pipes());
  ledger_end();
  return 0;
}

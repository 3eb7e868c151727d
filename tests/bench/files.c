/* A process with many mapped files, each of which could be a library.
 *
 *   bench_files DIRECTORY      maps every file in it; then prints "= COUNT", and ends when its input ends */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* As the loader maps a library: readable from the start of the file, and executable. Returns whether it worked. */
static int map_file(int directory, const char* name) {
  struct stat status;
  const int file = openat(directory, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const int mapped = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                     mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED;
  close(file);
  return mapped;
}

int main(int argc, char** argv) {
  DIR* directory = argc == 2 ? opendir(argv[1]) : NULL;
  int count = 0;
  if (directory == NULL) {
    fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
    return 2;
  }
  for (struct dirent* entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
    count += map_file(dirfd(directory), entry->d_name);
  }
  closedir(directory);
  printf("= %d\n", count);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}

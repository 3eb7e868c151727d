/* A process with much mapped code.
 *
 *   bench_code FILE...         maps each shared library as the loader would, but runs none of it; then prints
 *                              "= BYTES" of executable mappings, and ends when its input ends */
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kPage = 4096, kMaxHeaders = 64 };

static Elf64_Phdr headers[kMaxHeaders];

static uint64_t page_of(uint64_t address) { return address & ~(uint64_t)(kPage - 1); }

static int protection(uint32_t flags) {
  return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) | (flags & PF_X ? PROT_EXEC : 0);
}

/* Maps the segments of an open library. Returns the bytes of those with code; negative: it did not work. */
static int64_t map_segments(int file) {
  Elf64_Ehdr header;
  int64_t code = 0;
  uint64_t end = 0;
  if (pread(file, &header, sizeof(header), 0) != sizeof(header) || header.e_phnum > kMaxHeaders) return -1;
  const ssize_t size = (ssize_t)(header.e_phnum * sizeof(headers[0]));
  if (pread(file, headers, (size_t)size, (off_t)header.e_phoff) != size) return -1;
  for (int i = 0; i < header.e_phnum; i++) {
    if (headers[i].p_type == PT_LOAD) end = headers[i].p_vaddr + headers[i].p_memsz;
  }
  char* base = mmap(NULL, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return -1;
  for (int i = 0; i < header.e_phnum; i++) {
    const Elf64_Phdr* segment = &headers[i];
    if (segment->p_type != PT_LOAD) continue;
    const uint64_t start = page_of(segment->p_vaddr);
    if (mmap(base + start, segment->p_vaddr + segment->p_filesz - start, protection(segment->p_flags),
             MAP_PRIVATE | MAP_FIXED, file, (off_t)page_of(segment->p_offset)) == MAP_FAILED)
      return -1;
    if (segment->p_flags & PF_X) code += (int64_t)segment->p_filesz;
  }
  return code;
}

int main(int argc, char** argv) {
  int64_t bytes = 0;
  for (int i = 1; i < argc; i++) {
    const int file = open(argv[i], O_RDONLY | O_CLOEXEC);
    const int64_t mapped = file < 0 ? -1 : map_segments(file);
    if (mapped < 0) {
      fprintf(stderr, "cannot map %s\n", argv[i]);
      return 1;
    }
    bytes += mapped;
    close(file);
  }
  printf("= %lld\n", (long long)bytes);
  fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}

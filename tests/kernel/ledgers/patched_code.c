/* A program that changes libc's code in its own memory, or has it where the kernel puts no breakpoints. The first
 * argument tells how; "before" as the second one: before the trace begins, "end": during it, and the program ends at
 * once afterwards, "after_exec": during it, and when it has replaced itself with itself; otherwise during it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>

#include "ledger.h"

enum { kBlocks = 100 };

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

/* libc's executable segment, and its file. */
static struct {
  char* start;
  size_t bytes;
  off_t file_offset;
  const char* path;
} code;
static unsigned char* malloc_code;

static int find_code(struct dl_phdr_info* module, size_t size, void* nothing) {
  (void)size, (void)nothing;
  for (size_t i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[i];
    char* start = (char*)module->dlpi_addr + segment->p_vaddr;
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    if ((char*)malloc_code < start || (char*)malloc_code >= start + segment->p_memsz) continue;
    code.start = start;
    code.bytes = (segment->p_memsz + 4095) & ~(size_t)4095;
    code.file_offset = (off_t)segment->p_offset;
    code.path = module->dlpi_name;
    return 1;
  }
  return 0;
}

static char* page_of(void* address) { return (char*)((uintptr_t)address & ~(uintptr_t)4095); }

static void protect(char* start, size_t bytes, int protection) {
  ledger_require(mprotect(start, bytes, protection) == 0, "the protection can be changed");
}

static void make_writable(void) { protect(code.start, code.bytes, PROT_READ | PROT_WRITE | PROT_EXEC); }

static void make_page_writable(void) { protect(page_of(malloc_code), 4096, PROT_READ | PROT_WRITE | PROT_EXEC); }

/* There and back, as a program does that patches its code. */
static void make_writable_for_a_moment(void) {
  make_writable();
  protect(code.start, code.bytes, PROT_READ | PROT_EXEC);
}

static void read_code(void* to) {
  int file = open(code.path, O_RDONLY);
  ledger_require(pread(file, to, code.bytes, code.file_offset) > 0, "libc's file can be read");
  close(file);
}

/* As a debugger does that takes its own breakpoints out, which stood there before. All of the function: there are
 * probes inside as well. */
static void restore_bytes(void) {
  static unsigned char original[4 << 20];
  read_code(original);
  size_t at = (size_t)((char*)malloc_code - code.start);
  make_page_writable();
  size_t left_in_page = 4096 - ((uintptr_t)malloc_code & 4095);
  memcpy(malloc_code, original + at, left_in_page < 1024 ? left_in_page : 1024);
  protect(page_of(malloc_code), 4096, PROT_READ | PROT_EXEC);
}

/* The kernel's copy of the page goes, and the file's takes its place. */
static void drop_page(void) {
  ledger_require(madvise(page_of(malloc_code), 4096, MADV_DONTNEED) == 0, "the page can be dropped");
}

static void map_shared(void) {
  int file = open(code.path, O_RDONLY);
  void* mapped = mmap(code.start, code.bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, code.file_offset);
  ledger_require(mapped == code.start, "libc's code can be mapped shared");
  close(file);
}

/* As services do that want their code in huge pages. */
static void map_anonymous(void) {
  char* copy = mmap(NULL, code.bytes, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(copy != MAP_FAILED, "there is memory for the copy");
  read_code(copy);
  ledger_require(mremap(copy, code.bytes, code.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, code.start) == code.start,
                 "the copy can take the place of libc's code");
}

/* The list of mappings that hawktrace reads may be of the moments between, when there is neither. */
static void map_anonymous_often(void) {
  for (int i = 0; i < 100; i++) map_anonymous();
}

static char hook_arena[1 << 16];
static size_t hook_used;

static void* hooked_malloc(size_t n) {
  char* block = hook_arena + hook_used;
  hook_used += (n + 31) & ~(size_t)15;
  return hook_used <= sizeof(hook_arena) ? block : NULL;
}

/* movabs rax, hooked_malloc; jmp rax */
static void hook(void) {
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};
  void* to = (void*)hooked_malloc;
  memcpy(jump + 2, &to, sizeof(to));
  make_page_writable();
  memcpy(malloc_code, jump, sizeof(jump));
  protect(page_of(malloc_code), 4096, PROT_READ | PROT_EXEC);
}

/* Far behind its beginning, where no hook writes: "mov r, s", which has two encodings, is given the other one. */
static void encode_otherwise(void) {
  make_page_writable();
  for (unsigned char* at = malloc_code + 48; at < malloc_code + 512; at++) {
    int is_move = (at[0] == 0x48 || at[0] == 0x4c) && at[1] == 0x89 && at[2] >= 0xc0;
    if (!is_move) continue;
    unsigned char from = (at[2] >> 3) & 7, to = at[2] & 7, from_is_high = (at[0] & 4) != 0;
    at[0] = (unsigned char)(0x48 | from_is_high);
    at[1] = 0x8b;
    at[2] = (unsigned char)(0xc0 | to << 3 | from);
    protect(page_of(malloc_code), 4096, PROT_READ | PROT_EXEC);
    return;
  }
  ledger_require(0, "there is a move between registers");
}

static const struct {
  const char* name;
  void (*change)(void);
} changes[] = {
    {"writable", make_writable},
    {"writable_page", make_page_writable},
    {"patched", restore_bytes},
    {"writable_for_a_moment", make_writable_for_a_moment},
    {"dropped", drop_page},
    {"shared", map_shared},
    {"anonymous", map_anonymous},
    {"anonymous_often", map_anonymous_often},
    {"hooked", hook},
    {"encoded_otherwise", encode_otherwise},
};

static void begin_again(char** argv) {
  char* again[] = {argv[0], argv[1], (char*)"again", NULL};
  ledger_begin();
  execv("/proc/self/exe", again);
  ledger_require(0, "execv works");
}

int main(int argc, char** argv) {
  void (*change)(void) = NULL;
  const char* when = argc > 2 ? argv[2] : "";
  int is_before = strcmp(when, "before") == 0;
  if (strcmp(when, "after_exec") == 0) begin_again(argv);
  for (size_t i = 0; argc > 1 && i < sizeof(changes) / sizeof(*changes); i++)
    if (strcmp(argv[1], changes[i].name) == 0) change = changes[i].change;
  ledger_require(change != NULL, "there is a change of that name");
  malloc_code = dlsym(RTLD_DEFAULT, "malloc");
  dl_iterate_phdr(find_code, NULL);
  ledger_require(code.start != NULL, "libc's code can be found");
  if (is_before) change();
  if (strcmp(when, "again") != 0) ledger_begin();
  if (!is_before) change();
  struct block blocks[kBlocks];
  for (size_t i = 0; i < kBlocks; i++) {
    blocks[i] = by_malloc(i + 1);
    ledger_require(blocks[i].address != NULL, "there is memory");
    memset(blocks[i].address, 1, i + 1);
  }
  int is_hooked = hook_used != 0;
  for (size_t i = 0; i < kBlocks; i++) {
    if (is_hooked) ledger_freed(blocks[i]);
    if (!is_hooked && i % 2) release(blocks[i]);
  }
  if (strcmp(when, "end") == 0)
    ledger_close();
  else
    ledger_end();
  return 0;
}

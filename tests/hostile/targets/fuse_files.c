/* Maps as code a file whose file system is a program (FUSE) that answers nothing more once the file has been mapped, or
 * everything but reads of what is not cached: who reads it waits until that program ends. Or it answers all
 * ("answers"), and the file is a second libc, which is used. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "odd_files.h"

enum { kNode = 2, kPages = 1024 };

static int device;
static char image[kPages * 4096];

static void answer(uint64_t unique, int error, const void* body, size_t length) {
  struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + length), .error = -error, .unique = unique};
  struct iovec parts[] = {{&header, sizeof(header)}, {(void*)body, length}};
  ssize_t written = writev(device, parts, 2);
  (void)written;
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr attr = {.ino = node, .nlink = 1, .blksize = 4096};
  attr.mode = node == kNode ? S_IFREG | 0755 : S_IFDIR | 0755;
  attr.size = node == kNode ? sizeof(image) : 0;
  return attr;
}

/* Whether a request is not answered: 1 leaves all of them alone, 2 reads only. */
static int is_unanswered(uint32_t opcode, int silence) {
  const int is_read = opcode == FUSE_READ;
  return silence == 1 ? is_read || opcode == FUSE_GETATTR || opcode == FUSE_OPEN : silence == 2 && is_read;
}

static void serve(const struct fuse_in_header* in, const void* body) {
  switch (in->opcode) {
    case FUSE_INIT: {
      struct fuse_init_out out = {.major = FUSE_KERNEL_VERSION, .minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096};
      answer(in->unique, 0, &out, sizeof(out));
      return;
    }
    case FUSE_LOOKUP: {
      struct fuse_entry_out out = {.nodeid = kNode, .attr = attributes(kNode)};
      answer(in->unique, strcmp(body, "code.so") == 0 ? 0 : ENOENT, &out,
             strcmp(body, "code.so") == 0 ? sizeof(out) : 0);
      return;
    }
    case FUSE_GETATTR: {
      struct fuse_attr_out out = {.attr = attributes(in->nodeid)};
      answer(in->unique, 0, &out, sizeof(out));
      return;
    }
    case FUSE_OPEN: {
      struct fuse_open_out out = {.fh = 1, .open_flags = FOPEN_KEEP_CACHE};
      answer(in->unique, 0, &out, sizeof(out));
      return;
    }
    case FUSE_READ: {
      const struct fuse_read_in* read_in = body;
      size_t offset = read_in->offset < sizeof(image) ? read_in->offset : sizeof(image);
      size_t length = read_in->size < sizeof(image) - offset ? read_in->size : sizeof(image) - offset;
      answer(in->unique, 0, image + offset, length);
      return;
    }
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
      return;
    case FUSE_FLUSH:
    case FUSE_RELEASE:
      answer(in->unique, 0, NULL, 0);
      return;
    default:
      answer(in->unique, ENOSYS, NULL, 0);
      return;
  }
}

static volatile int* silence;

static void serve_all(void) {
  static char request[1 << 17] __attribute__((aligned(8)));
  for (;;) {
    ssize_t length = read(device, request, sizeof(request));
    if (length < 0 && (errno == EINTR || errno == ENOENT)) continue;
    if (length < (ssize_t)sizeof(struct fuse_in_header)) return;
    const struct fuse_in_header* in = (struct fuse_in_header*)request;
    if (!is_unanswered(in->opcode, *silence)) serve(in, request + sizeof(*in));
  }
}

static void* (*other_malloc)(size_t);
static void (*other_free)(void*);
SITE_FUNCTION struct block by_other_malloc(size_t n) { return ALLOCATED(other_malloc(n), n); }

static void load_other_libc(const char* path) {
  void* other = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
  ledger_require(other != NULL, "a second libc can be loaded");
  other_malloc = (void* (*)(size_t))dlsym(other, "malloc");
  other_free = (void (*)(void*))dlsym(other, "free");
  ledger_require(other_malloc != malloc, "it is another one");
}

static void use_other_libc(void) {
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_other_malloc(i);
    if (i % 2) continue;
    other_free(block.address);
    ledger_freed(block);
  }
}

int main(int argc, char** argv) {
  const int answers_all = argv[argc - 1][0] == 'a';
  char path[8192], options[256];
  silence = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  size_t length;
  const char* self = contents_of(answers_all ? path_of_libc() : "/proc/self/exe", &length);
  memcpy(image, self, length < sizeof(image) ? length : sizeof(image));
  make_odd_directory();
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  snprintf(options, sizeof(options), "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", device);
  ledger_require(device >= 0 && mount("hostile", odd_directory, "fuse", MS_NOSUID | MS_NODEV, options) == 0,
                 "there is FUSE");
  pid_t server = fork_bound();
  if (server == 0) {
    serve_all();
    _exit(0);
  }
  snprintf(path, sizeof(path), "%s/code.so", odd_directory);
  int file = open(path, O_RDONLY);
  ledger_require(file >= 0, "the file can be opened");
  char* code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ledger_require(code != MAP_FAILED, "the file can be mapped");
  ledger_require(((volatile char*)code)[0] == 0x7f, "the file can be read");
  close(file);
  madvise(code, 4096, MADV_RANDOM);
  if (answers_all) load_other_libc(path);
  if (!answers_all) *silence = argv[argc - 1][0] == 'r' ? 2 : 1;
  ledger_begin();
  allocate_a_while(100);
  if (answers_all) use_other_libc();
  ledger_close();
  ledger_wait();
  kill(server, SIGKILL);
  waitpid(server, NULL, 0);
  close(device);
  munmap(code, 4096);
  ledger_require(umount2(odd_directory, MNT_DETACH) == 0, "it can be unmounted");
  remove_odd_directory();
  return 0;
}

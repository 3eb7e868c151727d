#include "userspace/tracer/mapping_events.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hawk {
namespace {

constexpr std::size_t kDataPages = 16;  ///< a power of two, as perf_event_open(2) demands

/// PERF_RECORD_MMAP2 up to the file name, perf_event_open(2).
struct Mmap2Record {
  perf_event_header header;
  std::uint32_t pid, tid;
  std::uint64_t address, length, page_offset;
  std::uint32_t major, minor;
  std::uint64_t inode, inode_generation;
  std::uint32_t protection, flags;
};

/// PERF_RECORD_COMM up to the name, perf_event_open(2).
struct CommRecord {
  perf_event_header header;
  std::uint32_t pid, tid;
};

Mapping to_mapping(const Mmap2Record& record, const char* name) {
  return {.start = record.address,
          .end = record.address + record.length,
          .file_offset = record.page_offset,
          .device = static_cast<std::uint64_t>(record.major) << 32 | record.minor,
          .inode = record.inode,
          .executable = (record.protection & PROT_EXEC) != 0,
          .deleted = false,
          .path = name};
}

}  // namespace

/// One CPU's event and its ring buffer.
struct MappingEvents::Ring {
  UniqueFd fd;
  perf_event_mmap_page* page = nullptr;
  std::size_t bytes = 0;

  Ring(UniqueFd event, void* mapping, std::size_t mapped_bytes)
      : fd(std::move(event)), page(static_cast<perf_event_mmap_page*>(mapping)), bytes(mapped_bytes) {}
  Ring(Ring&& other) noexcept : fd(std::move(other.fd)), page(std::exchange(other.page, nullptr)), bytes(other.bytes) {}
  Ring& operator=(Ring&&) = delete;
  ~Ring() {
    if (page != nullptr) ::munmap(page, bytes);
  }

  /// Copies `size` bytes at stream position `at` out of the ring.
  void copy(std::uint64_t at, void* to, std::size_t size) const {
    const char* data = reinterpret_cast<const char*>(page) + page->data_offset;
    char* out = static_cast<char*>(to);
    const std::size_t offset = at % page->data_size;
    const std::size_t until_end = std::min<std::size_t>(size, page->data_size - offset);
    std::memcpy(out, data + offset, until_end);
    std::memcpy(out + until_end, data, size - until_end);
  }

  void take(int pid, MappingChanges& changes) {
    const std::uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    std::uint64_t tail = page->data_tail;
    std::vector<char> record;
    while (tail < head) {
      perf_event_header header;
      copy(tail, &header, sizeof(header));
      record.assign(header.size + 1u, '\0');
      copy(tail, record.data(), header.size);
      take_record(header, record, pid, changes);
      tail += header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
  }

  static void take_record(const perf_event_header& header, const std::vector<char>& bytes, int pid,
                          MappingChanges& changes) {
    if (header.type == PERF_RECORD_LOST) changes.lost = true;
    if (header.type == PERF_RECORD_MMAP2 && header.size >= sizeof(Mmap2Record)) take_mapping(bytes, pid, changes);
    const bool is_exec = header.type == PERF_RECORD_COMM && (header.misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    if (is_exec && header.size >= sizeof(CommRecord)) take_exec(bytes, pid, changes);
  }

  static void take_mapping(const std::vector<char>& bytes, int pid, MappingChanges& changes) {
    Mmap2Record record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    if (record.pid != static_cast<std::uint32_t>(pid)) return;
    changes.mapped.push_back(to_mapping(record, bytes.data() + sizeof(record)));
    // The first that an exec maps is the executable itself (fs/binfmt_elf.c, load_elf_binary).
    if (changes.last_exec && changes.last_exec->path.empty()) changes.last_exec->path = changes.mapped.back().path;
  }

  static void take_exec(const std::vector<char>& bytes, int pid, MappingChanges& changes) {
    CommRecord record;
    std::memcpy(&record, bytes.data(), sizeof(record));
    if (record.pid != static_cast<std::uint32_t>(pid)) return;
    changes.last_exec = ExecEvent{.comm = bytes.data() + sizeof(record), .path = {}};
  }
};

MappingEvents::MappingEvents() = default;
MappingEvents::MappingEvents(MappingEvents&&) noexcept = default;
MappingEvents& MappingEvents::operator=(MappingEvents&&) noexcept = default;
MappingEvents::~MappingEvents() = default;

Result<MappingEvents> MappingEvents::make(int pid) {
  MappingEvents events;
  events.pid_ = pid;
  events.epoll_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  if (!events.epoll_) return fail(ExitCode::kPrivilege, fmt::format("epoll_create1: {}", std::strerror(errno)));
  const long cpu_count = ::sysconf(_SC_NPROCESSORS_CONF);
  for (int cpu = 0; cpu < cpu_count; ++cpu) HAWK_TRY_VOID(events.add_cpu(cpu));
  return events;
}

Result<void> MappingEvents::add_cpu(int cpu) {
  perf_event_attr attr = {};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  // Every record wakes us. wakeup_events counts samples only, of which there are none.
  attr.watermark = 1;
  attr.wakeup_watermark = 1;
  // Every process of this CPU, because an event of one process would have to be opened for each of its threads.
  UniqueFd fd(static_cast<int>(::syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!fd && errno == ENODEV) return {};  // this CPU is offline
  if (!fd) return fail(ExitCode::kPrivilege, fmt::format("watch for new mappings: {}", std::strerror(errno)));
  const std::size_t bytes = (1 + kDataPages) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* mapping = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (mapping == MAP_FAILED) {
    return fail(ExitCode::kPrivilege, fmt::format("map a perf ring: {}", std::strerror(errno)));
  }
  epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd.get()}};
  const int added = ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &interest);
  rings_.emplace_back(std::move(fd), mapping, bytes);
  if (added != 0) return fail(ExitCode::kPrivilege, fmt::format("epoll_ctl: {}", std::strerror(errno)));
  return {};
}

MappingChanges MappingEvents::take() {
  MappingChanges changes;
  for (Ring& ring : rings_) ring.take(pid_, changes);
  return changes;
}

}  // namespace hawk

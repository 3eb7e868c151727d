// Mappings that become code, or data, where they are (mprotect), as the programs announce them.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/kernel/harness/told_worker.h"
#include "userspace/base/address_range.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/engine_parts.h"
#include "userspace/tracer/last_look.h"
#include "userspace/tracer/mapping_events.h"
#include "userspace/tracer/tracer.h"

namespace hawk {
namespace {

constexpr Way kWays[] = {Way::kPointsArena, Way::kPerfHash};
/// By events of the kernel's the probes are children's as well.
constexpr Way kFollowWays[] = {Way::kPerfHash};
constexpr std::size_t kPage = 4096;

void* map_own_file(int protection) {
  const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  return ::mmap(nullptr, kPage, protection, MAP_PRIVATE, file.get(), 0);
}

/// A page of this program's file, mapped without code, which the processes begun here have as well.
class Page {
 public:
  Page() { EXPECT_NE(at_, MAP_FAILED); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  ~Page() { ::munmap(at_, kPage); }

  void protect(int protection) const {
    if (::mprotect(at_, kPage, protection) != 0) ::_exit(1);
  }
  void become_code() const { protect(PROT_READ | PROT_EXEC); }
  void become_data() const { protect(PROT_READ); }

 private:
  void* at_ = map_own_file(PROT_READ);
};

std::string library_path() {
  Dl_info info = {};
  EXPECT_NE(::dladdr(reinterpret_cast<void*>(&::malloc), &info), 0);
  return info.dli_fname;
}

/// As the kernel has it (MKDEV).
std::uint32_t kernel_device(dev_t device) { return major(device) << 20 | minor(device); }

/// That the list of mappings is to be read again.
bool says_so(const MappingChanges& changes) { return changes.read_all || !changes.mapped.empty(); }

Result<MappingEvents> events_of(const TestEngine& test, const Tracer& tracer) {
  Result<MappingEvents> events = MappingEvents::make(test.engine->mapping_events());
  if (events) events->follow(tracer.first_program());
  return events;
}

/// Does each of the steps in turn, and says of which of them there was an announcement.
std::vector<bool> announced(Way way, const std::vector<std::function<void()>>& steps) {
  const TestEngine test(way);
  const Library library;
  std::size_t next = 0;
  ToldWorker worker([&] { steps[next++](); });
  Tracer tracer = library.trace(*test.engine, worker.pid(), true);
  Result<MappingEvents> events = events_of(test, tracer);
  EXPECT_TRUE(events.has_value());
  std::vector<bool> said;
  for (std::size_t i = 0; events && i < steps.size(); ++i) {
    worker.run();
    said.push_back(says_so(events->take(tracer.first_program())));
  }
  tracer.stop();
  test.engine->stop();
  return said;
}

KERNEL_TEST_ON(changed_code, is_announced_each_time, kWays) {
  const Page page;
  const auto to_code = [&] { page.become_code(); };
  const auto to_data = [&] { page.become_data(); };
  // What is first may be announced for what was before.
  const std::vector<bool> said = announced(way, {to_data, to_code, to_data, to_code, to_data, to_code});
  ASSERT_EQ(said.size(), 6U);
  for (const std::size_t became_code : {1U, 3U, 5U}) EXPECT_TRUE(said[became_code]) << became_code;
  // Only perf_event_mmap is not called for it.
  if (TestEngine(way).features.programs_on_functions) return;
  for (const std::size_t became_data : {2U, 4U}) EXPECT_TRUE(said[became_data]) << became_data;
}

/// Or hawktrace would read thousands of mappings for each region that a program has done with.
KERNEL_TEST_ON(changed_code, is_not_what_is_unmapped_or_data, kWays) {
  const Page page;
  void* code = nullptr;
  const auto map_code = [&] { code = map_own_file(PROT_READ | PROT_EXEC); };
  const auto unmap_code = [&] { ::munmap(code, kPage); };
  const auto map_data = [] { ::munmap(map_own_file(PROT_READ), kPage); };
  const auto make_writable = [&] { page.protect(PROT_READ | PROT_WRITE); };
  const std::vector<bool> said = announced(
      way, {map_code, unmap_code, map_data, make_writable, map_code, unmap_code, map_code, map_data, unmap_code});
  EXPECT_EQ(said, (std::vector<bool>{true, false, false, false, true, false, true, false, false}));
}

/// By dlopen, or after an exec: until that is known, calls of the one there are not taken for the program's own.
KERNEL_TEST_ON(changed_code, of_an_allocator_forgets_where_those_are, kWays) {
  const TestEngine test(way);
  const Library library;
  const std::string path = library_path();
  struct stat status = {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  ToldWorker worker([&] {
    const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (::mmap(nullptr, kPage, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0) == MAP_FAILED) ::_exit(1);
  });
  Tracer tracer = library.trace(*test.engine, worker.pid(), true);
  LastLook look = tracer.last_look();
  hawk_probe_point point = {};
  point.inode = status.st_ino;
  point.device = kernel_device(status.st_dev);
  look.set(std::span(&point, 1), {});
  const hawk_target& state = test.engine->parts().maps.targets[tracer.number()];
  const std::vector<AddressRange> ranges = {{0x1000, 0x2000}};
  tracer.set_allocator_ranges(ranges);
  EXPECT_EQ(state.files.allocator_range_count, 1U);
  const Tracer::Asked before = tracer.ask_for_files();
  worker.run();
  EXPECT_EQ(state.files.allocator_range_count, 0U);
  tracer.take_files(before, 0);
  tracer.set_allocator_ranges(ranges);
  EXPECT_EQ(state.files.allocator_range_count, 0U) << "what was announced had not been taken";
  tracer.take_files(tracer.ask_for_files(), 0);
  tracer.set_allocator_ranges(ranges);
  EXPECT_EQ(state.files.allocator_range_count, 1U);
  tracer.stop();
  test.engine->stop();
}

/// Has the kernel write to no memory of this process's children on its own: to do so, it locks their mappings.
void leave_restartable_sequences() {
  void* area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  if (::syscall(SYS_rseq, area, sizeof(struct rseq), RSEQ_FLAG_UNREGISTER, RSEQ_SIG) != 0) ::_exit(1);
}

/// The first time that their mappings are locked. The mm_struct of each is where that of the one before was.
KERNEL_TEST_ON(changed_code, of_children_one_after_the_other, kFollowWays) {
  constexpr std::size_t kChildren = 20;
  const TestEngine test(way, {.follows_children = true});
  const Library library;
  const Page page;
  ToldWorker worker([&] {
    leave_restartable_sequences();
    for (std::size_t i = 0; i < kChildren; ++i) {
      const auto pid = static_cast<int>(::syscall(SYS_fork));
      if (pid == 0) {
        page.become_code();
        ::_exit(0);
      }
      ::waitpid(pid, nullptr, 0);
    }
  });
  Tracer tracer = library.trace(*test.engine, worker.pid(), true);
  Result<MappingEvents> events = events_of(test, tracer);
  ASSERT_TRUE(events.has_value());
  worker.run();
  const std::vector<Birth> births = test.engine->take_births();
  ASSERT_EQ(births.size(), kChildren);
  for (const Birth& birth : births) {
    const Tracer child = Tracer::adopt(*test.engine, birth, &tracer);
    EXPECT_TRUE(says_so(events->take(child.first_program()))) << birth.number;
  }
  tracer.stop();
  test.engine->stop();
}

}  // namespace
}  // namespace hawk

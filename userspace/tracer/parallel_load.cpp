#include "userspace/tracer/parallel_load.h"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "userspace/base/out_of_memory.h"
#include "userspace/base/threads.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/libbpf_hooks.h"
#include "userspace/tracer/trivial_program.h"

namespace hawk {
namespace {

/// A program that libbpf has given to us.
struct GivenProgram {
  const bpf_program* program;
  WaitingProgram waiting;
  bool is_loaded = false;
};

/// What libbpf asks the kernel for while it loads an object, asked here.
class Loading {
 public:
  Loading(const ObjectLoad& object, bool at_once)
      : object_(object), placeholder_(at_once ? load_trivial_program(0) : UniqueFd()) {}

  btf* kernel_types() const {
    if (object_.types == nullptr) return __real_btf__load_vmlinux_btf();
    return btf__new(object_.types->btf.data(), static_cast<__u32>(object_.types->btf.size()));
  }

  UniqueFd take_map(const char* name) { return object_.maps != nullptr ? object_.maps->take(name) : UniqueFd(); }

  /// What bpf_prog_load() is to return.
  Result<int> take(const bpf_program& program, WaitingProgram waiting, const bpf_prog_load_opts& options) {
    if (object_.types != nullptr) waiting.number_types_by(object_.types->kernel_numbers);
    // Those of modules, which libbpf closes.
    const bool may_wait = placeholder_ && options.fd_array == nullptr;
    if (!may_wait) return waiting.load(options);
    const int descriptor = ::fcntl(placeholder_.get(), F_DUPFD_CLOEXEC, 0);
    if (descriptor >= 0) given_.push_back({.program = &program, .waiting = std::move(waiting)});
    return descriptor;
  }

  /// Has all be loaded, but those that are not needed yet.
  Loaded load_given(LaterPrograms& later) {
    for (GivenProgram& given : given_) {
      if (object_.later.contains(given.program)) later.add(*given.program, std::move(given.waiting));
    }
    std::erase_if(given_, [&](const GivenProgram& given) { return object_.later.contains(given.program); });
    // The one that takes longest is not to be the last to begin.
    std::sort(given_.begin(), given_.end(),
              [](const GivenProgram& a, const GivenProgram& b) { return a.waiting.size() > b.waiting.size(); });
    std::atomic<std::size_t> next = 0;
    const auto load = [&] {
      for (std::size_t i = next++; i < given_.size(); i = next++)
        given_[i].is_loaded = given_[i].waiting.load_as(*given_[i].program);
    };
    bool is_used = false;
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < spare_cpus() && i + 1 < given_.size(); ++i) threads.push_back(try_thread(load));
      is_used = object_.use_maps();
      if (is_used) load();
    }
    if (!is_used) return Loaded::kNo;
    const bool all =
        std::all_of(given_.begin(), given_.end(), [](const GivenProgram& given) { return given.is_loaded; });
    return all ? Loaded::kYes : Loaded::kNotAtOnce;
  }

  const ObjectLoad& object() const { return object_; }

 private:
  /// CPUs that this thread does not need. More threads than CPUs would have the program that takes longest, which all
  /// wait for, take even longer.
  static std::size_t spare_cpus() {
    cpu_set_t cpus;
    const bool is_known = ::sched_getaffinity(0, sizeof(cpus), &cpus) == 0;
    return static_cast<std::size_t>(std::max(is_known ? CPU_COUNT(&cpus) - 1 : 0, 0));
  }

  const ObjectLoad& object_;
  UniqueFd placeholder_;  ///< what libbpf gets for a program that waits
  std::vector<GivenProgram> given_;
};

/// What this thread has libbpf load.
thread_local Loading* loading = nullptr;

bool has_libbpf_load(Loading& what) {
  loading = &what;
  const bool is_loaded = what.object().load();
  loading = nullptr;
  return is_loaded;
}

}  // namespace

Loaded load_in_parallel(const ObjectLoad& object, LaterPrograms& later) {
  Loading all(object, true);
  return has_libbpf_load(all) ? all.load_given(later) : Loaded::kNo;
}

Loaded load_in_order(const ObjectLoad& object) {
  Loading all(object, false);
  return has_libbpf_load(all) && object.use_maps() ? Loaded::kYes : Loaded::kNo;
}

}  // namespace hawk

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names
/// Called by libbpf, which is written in C, and by everybody else.
extern "C" btf* __wrap_btf__load_vmlinux_btf() {
  return hawk::loading != nullptr ? hawk::loading->kernel_types() : __real_btf__load_vmlinux_btf();
}

extern "C" int __wrap_bpf_map_create(bpf_map_type type, const char* name, __u32 key_bytes, __u32 value_bytes,
                                     __u32 entries, const bpf_map_create_opts* options) {
  hawk::UniqueFd made = hawk::loading != nullptr && name != nullptr ? hawk::loading->take_map(name) : hawk::UniqueFd();
  return made ? made.release() : __real_bpf_map_create(type, name, key_bytes, value_bytes, entries, options);
}

extern "C" int __wrap_bpf_prog_load(bpf_prog_type type, const char* name, const char* license,
                                    const bpf_insn* instructions, std::size_t count, bpf_prog_load_opts* options) {
  hawk::Loading* const loading = hawk::loading;
  // libbpf tries programs of its own, to see what the kernel can do.
  const bpf_program* const program = loading != nullptr && name != nullptr && options != nullptr
                                         ? bpf_object__find_program_by_name(loading->object().object, name)
                                         : nullptr;
  if (program == nullptr) return __real_bpf_prog_load(type, name, license, instructions, count, options);
  const hawk::Result<int> descriptor = hawk::or_out_of_memory([&] {
    return loading->take(*program, hawk::WaitingProgram(type, name, license, {instructions, count}, *options),
                         *options);
  });
  if (descriptor) return *descriptor;
  errno = ENOMEM;
  return -ENOMEM;
}
// NOLINTEND(bugprone-reserved-identifier)

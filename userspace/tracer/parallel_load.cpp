#include "userspace/tracer/parallel_load.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "userspace/base/out_of_memory.h"
#include "userspace/base/threads.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/trivial_program.h"

namespace hawk {
namespace {

using Records = std::vector<std::uint8_t>;

Records copy_of(const void* records, std::size_t count, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(records);
  return bytes == nullptr ? Records() : Records(bytes, bytes + count * size);
}

/// A program as libbpf would have given it to the kernel. All of it is copied, since libbpf frees what is its own when
/// it fails.
class WaitingProgram {
 public:
  WaitingProgram(bpf_program& program, const bpf_prog_load_opts& options)
      : program_(program),
        instructions_(bpf_program__insns(&program), bpf_program__insns(&program) + bpf_program__insn_cnt(&program)),
        functions_(copy_of(options.func_info, options.func_info_cnt, options.func_info_rec_size)),
        lines_(copy_of(options.line_info, options.line_info_cnt, options.line_info_rec_size)),
        options_(options) {
    options_.func_info = functions_.data();
    options_.line_info = lines_.data();
    // libbpf sets it after it has asked.
    options_.expected_attach_type = bpf_program__expected_attach_type(&program);
  }
  WaitingProgram(const WaitingProgram&) = delete;
  WaitingProgram& operator=(const WaitingProgram&) = delete;
  ~WaitingProgram() = default;

  /// False: there can be no thread.
  bool start() {
    const char* const name = bpf_program__name(&program_);
    const bpf_prog_type type = bpf_program__type(&program_);
    thread_ = try_thread([this, name, type] {
      fd_ = UniqueFd(bpf_prog_load(type, name, kLicense, instructions_.data(), instructions_.size(), &options_));
      is_done_.store(true, std::memory_order_relaxed);
    });
    return thread_.joinable();
  }

  bool is_done() const { return is_done_.load(std::memory_order_relaxed); }

  /// In the place of what libbpf has loaded meanwhile.
  bool put_in_place() {
    thread_.join();
    return fd_ && ::dup3(fd_.get(), bpf_program__fd(&program_), O_CLOEXEC) >= 0;
  }

 private:
  /// LICENSE of hawktrace.bpf.c, which libbpf does not tell.
  static constexpr const char* kLicense = "Dual MIT/GPL";

  bpf_program& program_;
  std::vector<bpf_insn> instructions_;
  Records functions_, lines_;
  bpf_prog_load_opts options_;
  UniqueFd fd_;
  std::atomic<bool> is_done_ = false;
  std::jthread thread_;  ///< uses the others
};

using Waiting = std::list<WaitingProgram>;

/// Those of the object that this thread loads; nullptr: its programs are loaded one after the other.
thread_local Waiting* waiting = nullptr;

/// CPUs that this thread does not need. More threads than CPUs would have the program that takes longest, which all
/// wait for, take even longer.
std::size_t spare_cpus() {
  cpu_set_t cpus;
  const bool is_known = ::sched_getaffinity(0, sizeof(cpus), &cpus) == 0;
  return static_cast<std::size_t>(std::max(is_known ? CPU_COUNT(&cpus) - 1 : 1, 1));
}

bool has_spare_cpu() {
  const auto loading =
      std::count_if(waiting->begin(), waiting->end(), [](const WaitingProgram& program) { return !program.is_done(); });
  return static_cast<std::size_t>(loading) < spare_cpus();
}

Result<void> set_aside(bpf_program& program, bpf_prog_load_opts& options) {
  if (!has_spare_cpu()) return {};
  WaitingProgram& added = waiting->emplace_back(program, options);
  auto trivial = trivial_instructions();
  if (!added.start() || bpf_program__set_insns(&program, trivial.data(), trivial.size()) != 0) {
    waiting->pop_back();
    return {};
  }
  options.func_info = nullptr;
  options.line_info = nullptr;
  options.func_info_cnt = options.line_info_cnt = 0;
  return {};
}

/// Called by libbpf, which is written in C, for a program that it is about to load.
int on_load(bpf_program* program, bpf_prog_load_opts* options, long /*cookie*/) {
  if (waiting != nullptr) or_out_of_memory([&] { return set_aside(*program, *options); });
  return 0;
}

}  // namespace

void prepare_parallel_loading() {
  LIBBPF_OPTS(libbpf_prog_handler_opts, handler, .prog_prepare_load_fn = on_load);
  // Never taken back: programs refer to it. Without it they are loaded one after the other.
  static const int registered =
      libbpf_register_prog_handler("uprobe", BPF_PROG_TYPE_KPROBE, static_cast<bpf_attach_type>(0), &handler);
  static_cast<void>(registered);
}

Loaded load_in_parallel(const std::function<bool()>& load) {
  Waiting programs;
  waiting = &programs;
  const bool is_loaded = load();
  waiting = nullptr;
  if (!is_loaded) {
    const int reason = errno;
    programs.clear();
    errno = reason;
    return Loaded::kNo;
  }
  bool all = true;
  for (WaitingProgram& program : programs) all &= program.put_in_place();
  return all ? Loaded::kYes : Loaded::kNotAtOnce;
}

}  // namespace hawk

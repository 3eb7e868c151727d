#include "userspace/tracer/tracer.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/types.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bpf/layout.h"
#include "hawktrace.skel.h"
#include "userspace/base/log.h"
#include "userspace/base/owned.h"
#include "userspace/tracer/drain.h"
#include "userspace/tracer/frameless.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/live_table_check.h"

namespace hawk {
namespace {

using Skeleton = std::unique_ptr<hawktrace, Freer<hawktrace::destroy>>;

/// Room for this many frames per stack on average; a stack is mostly shallower than this.
constexpr std::uint64_t kFramesPerStack = 32;
/// Stripes of the counters. More CPUs than this share stripes, which costs them contention but no exactness. Each
/// stripe is 2 MiB at the default size, and all of them count as our resident memory, because mapping an array maps
/// every page.
constexpr std::uint32_t kMaxStripes = 16;

int print_libbpf(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG || verbosity() != Verbosity::kVerbose) return 0;
  return std::vfprintf(stderr, format, arguments);
}

std::string path_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

/// Fills in our pid namespace unless it is the root one, whose inode number is fixed (PROC_PID_INIT_INO,
/// include/linux/proc_ns.h).
void set_pid_namespace(hawk_config& config) {
  constexpr ino_t kRootNamespace = 0xEFFFFFFC;
  struct stat status;
  if (::stat("/proc/self/ns/pid", &status) != 0 || status.st_ino == kRootNamespace) return;
  config.pid_namespace_device = static_cast<__u64>(major(status.st_dev)) << 20 | minor(status.st_dev);
  config.pid_namespace_inode = status.st_ino;
}

hawk_config make_config(const TracerOptions& options) {
  const int cpus = std::max(1, libbpf_num_possible_cpus());
  const std::uint32_t stripes = std::min(kMaxStripes, std::bit_ceil(static_cast<std::uint32_t>(cpus)));
  hawk_config config = {};
  config.tgid = static_cast<__u32>(options.pid);
  config.max_stacks = options.max_stacks + HAWK_FIRST_STACK;
  config.cpu_mask = stripes - 1;
  config.max_depth = options.max_depth;
  config.frame_capacity = std::max<__u64>(options.max_stacks * kFramesPerStack, HAWK_MAX_FRAMES);
  set_pid_namespace(config);
  return config;
}

/// Sizes the maps and picks the programs that `options.way` needs.
void configure(hawktrace& skeleton, const TracerOptions& options, const hawk_config& config) {
  skeleton.rodata->settings = config;
  bpf_map__set_max_entries(skeleton.maps.live_blocks, options.max_blocks);
  bpf_map__set_max_entries(skeleton.maps.counters, (config.cpu_mask + 1) * config.max_stacks);
  bpf_map__set_max_entries(skeleton.maps.stack_numbers, config.max_stacks);
  bpf_map__set_max_entries(skeleton.maps.stack_records, config.max_stacks);
  bpf_map__set_max_entries(skeleton.maps.frames, static_cast<__u32>(config.frame_capacity));
  bpf_program__set_autoload(skeleton.progs.alloc_session, options.way == AttachWay::kSession);
  bpf_program__set_autoload(skeleton.progs.alloc_entry, options.way != AttachWay::kSession);
  bpf_program__set_autoload(skeleton.progs.alloc_return, options.way != AttachWay::kSession);
  if (options.way == AttachWay::kPerf) return;
  const auto multi = static_cast<bpf_attach_type>(kAttachTypeUprobeMulti);
  for (bpf_program* program : {skeleton.progs.alloc_entry, skeleton.progs.alloc_return, skeleton.progs.free_entry,
                               skeleton.progs.module_init}) {
    bpf_program__set_expected_attach_type(program, multi);
  }
  bpf_program__set_expected_attach_type(skeleton.progs.alloc_session,
                                        static_cast<bpf_attach_type>(kAttachTypeUprobeSession));
}

Result<KernelMaps> map_arrays(hawktrace& skeleton, const hawk_config& config) {
  KernelMaps maps;
  maps.config = config;
  maps.state = &skeleton.data->state;
  const std::size_t stripes = config.cpu_mask + 1;
  maps.counters = HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.counters),
                                             stripes * config.max_stacks * sizeof(hawk_counters), "counters"));
  maps.stack_records = HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.stack_records),
                                                  config.max_stacks * sizeof(hawk_stack_record), "stack_records"));
  maps.frames =
      HAWK_TRY(MappedArray::make(bpf_map__fd(skeleton.maps.frames), config.frame_capacity * sizeof(__u64), "frames"));
  return maps;
}

/// The probes of one file, by the program that takes them.
struct ProbeSets {
  std::vector<Probe> frees;
  std::vector<Probe> returning;      ///< allocating functions whose return the kernel may hijack
  std::vector<Probe> throwing;       ///< entries of the others
  std::vector<Probe> throwing_rets;  ///< and their ret instructions
};

std::uint64_t cookie_of(const AllocatorFile& allocator, const AllocatorFunction& function) {
  std::uint64_t cookie = (function.probe_offset - function.entry_offset) << HAWK_COOKIE_ENTRY_SHIFT | function.kind;
  if (function.may_throw) cookie |= HAWK_COOKIE_MAY_THROW;
  if (allocator.is_library) cookie |= HAWK_COOKIE_IN_LIBRARY;
  return cookie;
}

ProbeSets sort_probes(const AllocatorFile& allocator) {
  ProbeSets sets;
  for (const AllocatorFunction& function : allocator.functions) {
    const Probe probe = {.file_offset = function.probe_offset, .cookie = cookie_of(allocator, function)};
    if (function.kind == HAWK_CALL_FREE) {
      sets.frees.push_back(probe);
    } else if (!function.may_throw) {
      sets.returning.push_back(probe);
    } else {
      sets.throwing.push_back(probe);
      for (const std::uint64_t offset : function.return_offsets)
        sets.throwing_rets.push_back({.file_offset = offset, .cookie = HAWK_COOKIE_AT_RET});
    }
  }
  // Two throwing functions may share a slow path and hence its ret.
  std::sort(sets.throwing_rets.begin(), sets.throwing_rets.end(),
            [](const Probe& a, const Probe& b) { return a.file_offset < b.file_offset; });
  sets.throwing_rets.erase(std::unique(sets.throwing_rets.begin(), sets.throwing_rets.end(),
                                       [](const Probe& a, const Probe& b) { return a.file_offset == b.file_offset; }),
                           sets.throwing_rets.end());
  return sets;
}

/// Destroys every element, all at the same time. Each removal waits for several of the kernel's grace periods, some 40
/// ms; side by side the waits overlap (measured: five links 430 ms one after the other, 90 ms together).
template <class Link>
void destroy_together(std::vector<Link>& links) {
  std::vector<std::thread> threads;
  threads.reserve(links.size());
  for (Link& link : links) {
    threads.emplace_back([&link] { const Link destroyed = std::move(link); });
  }
  for (std::thread& thread : threads) thread.join();
  links.clear();
}

}  // namespace

// Destruction runs from the last member to the first: probes go before the maps they use.
struct Tracer::Impl {
  TracerOptions options;
  Skeleton skeleton;
  KernelMaps maps;
  Drain drain;
  std::uint32_t cleaned_epoch = 0;
  std::uint32_t files_with_free = 0;
  std::vector<UniqueFd> tracepoints;
  std::vector<UniqueFd> multi_links;
  std::vector<PerfLink> perf_links;

  Result<void> attach(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return = false) {
    if (probes.empty()) return {};
    return options.way == AttachWay::kPerf ? attach_perf(program, fd, probes, on_return)
                                           : attach_multi(program, fd, probes, on_return);
  }

  Result<void> attach_multi(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
    multi_links.push_back(HAWK_TRY(make_multi_link({.program_fd = bpf_program__fd(program),
                                                    .attach_type = bpf_program__expected_attach_type(program),
                                                    .path = path_of(fd),
                                                    .probes = probes,
                                                    .pid = options.filter_by_pid ? options.pid : 0,
                                                    .on_return = on_return})));
    return {};
  }

  Result<void> attach_perf(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
    for (const Probe& probe : probes) {
      perf_links.push_back(HAWK_TRY(PerfLink::make({.program = program,
                                                    .path = path_of(fd),
                                                    .probe = probe,
                                                    .pid = options.filter_by_pid ? options.pid : 0,
                                                    .on_return = on_return})));
    }
    return {};
  }

  Result<void> attach_tracepoint(bpf_program* program) {
    UniqueFd fd(bpf_raw_tracepoint_open(nullptr, bpf_program__fd(program)));
    if (!fd) {
      return fail(ExitCode::kPrivilege,
                  fmt::format("attach {} to its tracepoint: {}", bpf_program__name(program), std::strerror(errno)));
    }
    tracepoints.push_back(std::move(fd));
    return {};
  }
};

Tracer::Tracer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tracer::Tracer(Tracer&&) noexcept = default;
Tracer& Tracer::operator=(Tracer&&) noexcept = default;
Tracer::~Tracer() = default;

Result<Tracer> Tracer::make(const TracerOptions& options) {
  libbpf_set_print(print_libbpf);
  std::unique_ptr<Impl> impl = std::make_unique<Impl>();
  impl->options = options;
  impl->skeleton = Skeleton(hawktrace::open(nullptr));
  if (!impl->skeleton)
    return fail(ExitCode::kPrivilege, fmt::format("open the BPF programs: {}", std::strerror(errno)));
  const hawk_config config = make_config(options);
  configure(*impl->skeleton, options, config);
  if (hawktrace::load(impl->skeleton.get()) != 0) {
    const char* hint = errno == ENOMEM || errno == E2BIG
                           ? "the tables do not fit into memory: lower --max-blocks or --max-stacks"
                           : "the kernel's reason is printed with --verbose";
    return fail(ExitCode::kPrivilege, fmt::format("load the BPF programs: {}", std::strerror(errno)), hint);
  }
  impl->maps = HAWK_TRY(map_arrays(*impl->skeleton, config));
  HAWK_TRY_VOID(impl->attach_tracepoint(impl->skeleton->progs.process_exec));
  HAWK_TRY_VOID(impl->attach_tracepoint(impl->skeleton->progs.thread_exit));
  return Tracer(std::move(impl));
}

Result<void> Tracer::attach_allocator(int fd, const AllocatorFile& allocator) {
  ProbeSets sets = sort_probes(allocator);
  const auto& programs = impl_->skeleton->progs;
  if (!sets.frees.empty() && ++impl_->files_with_free > 1) impl_->maps.state->several_allocators = 1;
  // Frees first and entries last. A block whose allocation is seen must not be freed unseen.
  HAWK_TRY_VOID(impl_->attach(programs.free_entry, fd, sets.frees));
  const bool session = impl_->options.way == AttachWay::kSession;
  HAWK_TRY_VOID(impl_->attach(session ? programs.alloc_session : programs.alloc_return, fd, sets.throwing_rets));
  if (!session) HAWK_TRY_VOID(impl_->attach(programs.alloc_return, fd, sets.returning, true));
  std::vector<Probe> entries = std::move(sets.returning);
  entries.insert(entries.end(), sets.throwing.begin(), sets.throwing.end());
  return impl_->attach(session ? programs.alloc_session : programs.alloc_entry, fd, entries);
}

Result<std::optional<std::uint32_t>> Tracer::add_operator_frames(int fd, const OperatorFrames& frames,
                                                                 bool watch_init) {
  const std::optional<std::uint32_t> module =
      HAWK_TRY(add_frameless_module(impl_->maps, bpf_map__fd(impl_->skeleton->maps.frameless_rules), frames));
  if (module && watch_init && frames.init_offset) {
    HAWK_TRY_VOID(impl_->attach(impl_->skeleton->progs.module_init, fd,
                                {{.file_offset = *frames.init_offset, .cookie = *module}}));
  }
  return module;
}

void Tracer::set_module_base(std::uint32_t module, std::uint64_t base) {
  set_frameless_base(impl_->maps, module, base);
}

void Tracer::set_allocator_ranges(const std::vector<AddressRange>& ranges) {
  hawk_state& state = *impl_->maps.state;
  // Zero says "not all known", which is what the programs shall see while the table is rewritten, or if it is too
  // small.
  __atomic_store_n(&state.allocator_range_count, 0, __ATOMIC_SEQ_CST);
  if (ranges.size() > HAWK_MAX_ALLOCATOR_RANGES) return;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    state.allocator_ranges[i] = {.start = ranges[i].start, .end = ranges[i].end};
  }
  __atomic_store_n(&state.allocator_range_count, static_cast<__u32>(ranges.size()), __ATOMIC_SEQ_CST);
}

void Tracer::enable() { __atomic_store_n(&impl_->maps.state->enabled, 1, __ATOMIC_SEQ_CST); }

Drained Tracer::drain() {
  Drained drained = impl_->drain.read(impl_->maps);
  if (drained.exec_epoch != impl_->cleaned_epoch) {
    const Result<void> dropped = drop_old_epochs(bpf_map__fd(impl_->skeleton->maps.live_blocks), drained.exec_epoch);
    if (!dropped) log_warning(dropped.error().what);
    impl_->cleaned_epoch = drained.exec_epoch;
  }
  return drained;
}

void Tracer::count_loss(hawk_loss cause, std::uint64_t times) {
  __atomic_fetch_add(&impl_->maps.state->losses[cause], times, __ATOMIC_RELAXED);
}

void Tracer::stop() {
  __atomic_store_n(&impl_->maps.state->enabled, 0, __ATOMIC_SEQ_CST);
  destroy_together(impl_->perf_links);
  destroy_together(impl_->multi_links);
  impl_->tracepoints.clear();
  // No call can return any more: what is still counted as nested in an open one was hidden by it.
  count_loss(HAWK_LOSS_HIDDEN_CALL, pending_on(impl_->maps, HAWK_NESTED).count);
}

Result<bool> Tracer::verify(const Drained& drained) {
  return live_table_agrees(bpf_map__fd(impl_->skeleton->maps.live_blocks), impl_->maps, drained);
}

}  // namespace hawk

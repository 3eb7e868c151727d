#include "userspace/tracer/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/btf.h>
#include <linux/types.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "bpf/layout.h"
#include "bpf/live/arena_layout.h"
#include "bpf/regions.h"
#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/arena_memory.h"
#include "userspace/tracer/frame_store.h"
#include "userspace/tracer/growing_array.h"
#include "userspace/tracer/kernel_types.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/maps_ahead.h"
#include "userspace/tracer/parallel_load.h"
#include "userspace/tracer/relocation_types.h"

namespace hawk {
namespace {

constexpr auto kMulti = static_cast<bpf_attach_type>(kAttachTypeUprobeMulti);
constexpr auto kSession = static_cast<bpf_attach_type>(kAttachTypeUprobeSession);

/// A new one for each trace: no program shall know how its stacks are hashed.
Result<hawk_hash_key> draw_hash_key() {
  hawk_hash_key key = {};
  if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) {
    return system_failure(ExitCode::kPrivilege, "draw a key for the hashes of stacks", errno);
  }
  key.multiplier |= 1;
  return key;
}

Result<hawk_config> make_config(const EngineOptions& options, LiveTable table, const MemoryPlan& plan,
                                const KernelTypes& types) {
  hawk_config config = {};
  config.max_stacks = plan.stacks;
  config.stack_index_mask = plan.stack_index_entries - 1;
  config.cpu_mask = plan.counter_stripes - 1;
  config.cpus = plan.cpus;
  config.max_depth = options.max_depth;
  config.live_table = table == LiveTable::kArena ? HAWK_LIVE_ARENA : HAWK_LIVE_HASH;
  config.pages_low = ArenaMemory::kPagesLow;
  // What it needs came with 6.3 at the latest, the arena with 6.10 and sessions with 6.13.
  config.word_type = types.structure("timespec64");
  const bool may_read = table == LiveTable::kArena || options.way == AttachWay::kSession;
  config.may_read_directly = may_read && config.word_type != 0 ? 1 : 0;
  config.kernel_preempts = options.kernel_preempts || config.may_read_directly == 0 ? 1 : 0;
  config.min_block_bytes = options.min_block_bytes;
  config.frames_low = FrameStore::low_of(plan.spare_frames);
  config.location_mask = plan.locations - 1;
  config.location_shift = 32 - static_cast<__u32>(std::countr_zero(plan.locations));
  config.unwind = options.unwind;
  config.follows_children = options.follows_children ? 1 : 0;
  config.probes_go_by_memory = options.follows_children || options.links == LinkScope::kFile ? 1 : 0;
  config.probes_share_events = options.follows_children && options.links == LinkScope::kProcess ? 1 : 0;
  config.holds = options.holds ? 1 : 0;
  config.follows_regions = plan.region_ring_bytes != 0 ? 1 : 0;
  config.region_wakeup_bytes = plan.region_ring_bytes / HAWK_REGION_WAKEUPS;
  config.returns_are_calls = options.returns_are_calls ? 1 : 0;
  config.by_thread = options.by_thread ? 1 : 0;
  config.histograms = options.histograms ? 1 : 0;
  config.hash_key = HAWK_TRY(draw_hash_key());
  return config;
}

/// The maps of the live table and the programs that make and free its memory.
void configure_live_table(hawktrace& skeleton, LiveTable table, const MemoryPlan& plan) {
  const bool arena = table == LiveTable::kArena;
  bpf_map__set_autocreate(skeleton.maps.arena, arena);
  bpf_map__set_autocreate(skeleton.maps.wakeups, arena);
  bpf_map__set_autocreate(skeleton.maps.reserve_maps, !arena);
  bpf_map__set_autocreate(skeleton.maps.reserve_wakeups, !arena);
  for (bpf_program* program : {skeleton.progs.arena_make_pages, skeleton.progs.arena_free_pages,
                               skeleton.progs.arena_shrink, skeleton.progs.arena_sweep}) {
    bpf_program__set_autoload(program, arena);
  }
  bpf_map__set_max_entries(skeleton.maps.live_blocks, plan.hash_blocks);
  if (!arena) return;
  bpf_map__set_max_entries(skeleton.maps.arena, HAWK_ARENA_LIVE_PAGE + plan.arena_pages);
  bpf_map__set_map_extra(skeleton.maps.arena, next_arena_address());
}

/// The programs that announce what targets map and unmap, and their ring.
void configure_regions(hawktrace& skeleton, const MemoryPlan& plan) {
  const bool is_wanted = plan.region_ring_bytes != 0;
  bpf_map__set_autocreate(skeleton.maps.region_events, is_wanted);
  if (is_wanted) bpf_map__set_max_entries(skeleton.maps.region_events, plan.region_ring_bytes);
  bpf_program__set_autoload(skeleton.progs.region_entered, is_wanted);
  bpf_program__set_autoload(skeleton.progs.regions_unlocked, is_wanted);
}

/// Sizes the maps and picks the programs that `options.way` needs.
void configure(hawktrace& skeleton, const EngineOptions& options, const hawk_config& config, const MemoryPlan& plan,
               const KernelTypes& types) {
  skeleton.rodata->settings = config;
  bpf_map__set_max_entries(skeleton.maps.counters, (config.cpu_mask + 1) * config.max_stacks);
  bpf_map__set_max_entries(skeleton.maps.stack_index, config.stack_index_mask + 1);
  bpf_map__set_max_entries(skeleton.maps.stack_records, config.max_stacks);
  bpf_map__set_max_entries(skeleton.maps.frame_segments, plan.frames / HAWK_SEGMENT_FRAMES);
  bpf_map__set_max_entries(skeleton.maps.locations, plan.locations);
  bpf_map__set_autocreate(skeleton.maps.probe_cookies, config.probes_share_events != 0);
  // There even if it is not used: up to Linux 6.7 the verifier looks at functions that nothing calls, unless static.
  bpf_map__set_max_entries(skeleton.maps.stack_lives, options.by_thread || options.histograms ? config.max_stacks : 1);
  bpf_map__set_autocreate(skeleton.maps.thread_names, options.by_thread);
  bpf_map__set_autocreate(skeleton.maps.studied_files, options.holds);
  bpf_map__set_autocreate(skeleton.maps.held_threads, options.holds);
  bpf_program__set_autoload(skeleton.progs.find_direct_map, config.may_read_directly != 0);
  const bool on_functions = options.programs_on_functions, holds = options.holds;
  bpf_program__set_autoload(skeleton.progs.process_fork, !holds);
  bpf_program__set_autoload(skeleton.progs.process_fork_holding, holds);
  bpf_program__set_autoload(skeleton.progs.process_exec, !holds);
  bpf_program__set_autoload(skeleton.progs.process_exec_holding, holds);
  bpf_program__set_autoload(skeleton.progs.mapping_made, on_functions && !holds);
  bpf_program__set_autoload(skeleton.progs.mapping_made_holding, on_functions && holds);
  bpf_program__set_autoload(skeleton.progs.tree_entry, !on_functions && !holds);
  bpf_program__set_autoload(skeleton.progs.tree_entry_holding, !on_functions && holds);
  bpf_program__set_autoload(skeleton.progs.mappings_unlocked, !options.programs_on_functions);
  configure_regions(skeleton, plan);
  for (bpf_program* program : {skeleton.progs.memory_left_by_exit, skeleton.progs.memory_left_by_exec}) {
    const char* function = bpf_program__section_name(program) + std::strlen("fentry/");
    bpf_program__set_autoload(program, options.programs_on_functions && types.function(function) != 0);
  }
  bpf_program__set_autoload(skeleton.progs.find_interceptors, options.returns_are_calls);
  bpf_program__set_autoload(skeleton.progs.prepare_exec, types.tracepoint("sched_prepare_exec") != 0);
  const bool session = options.way == AttachWay::kSession;
  bpf_program__set_autoload(skeleton.progs.alloc_session, session && !options.by_plan);
  bpf_program__set_autoload(skeleton.progs.alloc_yield, options.by_plan);
  bpf_program__set_autoload(skeleton.progs.signal_delivered, options.by_plan);
  bpf_program__set_autoload(skeleton.progs.alloc_entry, !session);
  bpf_program__set_autoload(skeleton.progs.alloc_return, !session);
  if (options.way == AttachWay::kPerf) return;
  for (bpf_program* program :
       {skeleton.progs.alloc_entry, skeleton.progs.alloc_return, skeleton.progs.alloc_yield, skeleton.progs.free_entry,
        skeleton.progs.unfollowed_entry, skeleton.progs.module_init}) {
    bpf_program__set_expected_attach_type(program, kMulti);
  }
  bpf_program__set_expected_attach_type(skeleton.progs.alloc_session, kSession);
}

/// Makes the map of the programs' variables that begin as zero. libbpf would write as many megabytes of zeros into it.
Result<void> make_zeros(hawktrace& skeleton) {
  bpf_map* const map = skeleton.maps.bss;
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = bpf_map__map_flags(map));
  const UniqueFd made(bpf_map_create(bpf_map__type(map), bpf_map__name(map), bpf_map__key_size(map),
                                     bpf_map__value_size(map), bpf_map__max_entries(map), &options));
  if (made && bpf_map__reuse_fd(map, made.get()) == 0) return {};
  return system_failure(ExitCode::kPrivilege, "make the BPF map of variables", errno);
}

/// Gives `second` the maps of `first`, and no program to load.
Result<void> share_maps(hawktrace& second, const hawktrace& first) {
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, second.obj) bpf_program__set_autoload(program, false);
  bpf_map* map = nullptr;
  bpf_object__for_each_map(map, second.obj) {
    const bpf_map* known = bpf_object__find_map_by_name(first.obj, bpf_map__name(map));
    // A map that was not made has a descriptor all the same, which libbpf keeps free for it.
    if (!bpf_map__autocreate(known)) {
      bpf_map__set_autocreate(map, false);
    } else if (bpf_map__reuse_fd(map, bpf_map__fd(known)) != 0) {
      return system_failure(ExitCode::kPrivilege, fmt::format("share the BPF map {}", bpf_map__name(map)), errno);
    }
  }
  return {};
}

tl::unexpected<Error> load_failure(int reason, const char* hint) {
  if (reason == ENOMEM || reason == E2BIG) {
    // E2BIG is what a map gives that is too large, and what the verifier gives that has had enough.
    const std::string_view other = "; if they do, the kernel refuses the programs, and --verbose prints its reason";
    return fail(ExitCode::kPrivilege, fmt::format("load the BPF programs: {}", std::strerror(reason)),
                fmt::format("the tables do not fit into memory: lower --max-blocks or --max-stacks{}",
                            reason == E2BIG ? other : ""));
  }
  return system_failure(ExitCode::kPrivilege, "load the BPF programs", reason, hint);
}

/// Of the kernel's types what the object's programs may use, and what they are put on.
WantedTypes types_wanted_by(const bpf_object& object) {
  WantedTypes wanted;
  const btf& types = *bpf_object__btf(&object);
  for (__u32 number = 1; number < btf__type_cnt(&types); ++number) {
    const btf_type& type = *btf__type_by_id(&types, number);
    const std::string_view name = essential_name(btf__name_by_offset(&types, type.name_off));
    const bool is_function = BTF_INFO_KIND(type.info) == BTF_KIND_FUNC;
    // libbpf, once it has opened an object, has the kernel's functions among the object's own.
    if (is_function && BTF_INFO_VLEN(type.info) == BTF_FUNC_GLOBAL) wanted.functions.emplace(name);
    if (!is_function && !name.empty()) wanted.types.emplace(name);
  }
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, &object) {
    const std::string_view section = bpf_program__section_name(program);
    const std::string_view kind = section.substr(0, section.find('/')), place = section.substr(kind.size());
    if (kind == "tp_btf") wanted.types.insert(fmt::format("btf_trace_{}", place.substr(1)));
    if (kind == "fentry") wanted.functions.emplace(place.substr(1));
    if (kind == "iter") wanted.functions.insert(fmt::format("bpf_iter_{}", place.substr(1)));
  }
  return wanted;
}

/// The same where libbpf looks for what the programs' accesses are fitted by; it would look in the types of all modules
/// for what it does not find in those of the kernel itself.
class TypesFile {
 public:
  TypesFile() : file_(::memfd_create("types", MFD_CLOEXEC)) {}

  /// Empty: libbpf is to find them itself.
  std::string path() const { return file_ ? fmt::format("/proc/self/fd/{}", file_.get()) : ""; }

  Result<void> fill(Bytes types) {
    const ssize_t written = ::pwrite(file_.get(), types.data(), types.size(), 0);
    if (written == static_cast<ssize_t>(types.size())) return {};
    return system_failure(ExitCode::kPrivilege, "keep the types of the kernel", written < 0 ? errno : ENOSPC);
  }

 private:
  UniqueFd file_;
};

/// An object that is open, and what it needs to be loaded.
struct OpenObject {
  Skeleton skeleton;
  std::unique_ptr<MapsAhead> maps;
  TypesFile file;
  ReducedTypes types;  ///< empty: libbpf is to find them itself
};

/// `choose` sizes the maps and picks the programs.
template <class Choose>
Result<OpenObject> open_object(Choose choose, const KernelTypes& kernel, bool makes_maps) {
  OpenObject opened;
  const std::string path = kernel.all().empty() ? "" : opened.file.path();
  LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = path.empty() ? nullptr : path.c_str());
  opened.skeleton.reset(hawktrace::open(&options));
  if (!opened.skeleton) return system_failure(ExitCode::kPrivilege, "open the BPF programs", errno);
  HAWK_TRY_VOID(choose(*opened.skeleton));
  if (makes_maps) opened.maps = std::make_unique<MapsAhead>(*opened.skeleton->obj);
  if (!path.empty()) {
    if (kernel.table() != nullptr) opened.types = reduce_types(*kernel.table(), types_wanted_by(*opened.skeleton->obj));
    HAWK_TRY_VOID(opened.file.fill(opened.types.btf.empty() ? kernel.all() : Bytes(opened.types.btf)));
  }
  return opened;
}

/// Loads an object, and lets its maps be used meanwhile. What became of that is in used().
class ObjectLoader {
 public:
  ObjectLoader(OpenObject& opened, const UseMaps& use) : opened_(opened), use_(use) {}

  Loaded load_in_parallel(LaterPrograms& later) { return hawk::load_in_parallel(what(), later); }
  Loaded load_in_order() { return hawk::load_in_order(what()); }
  const Result<void>& used() const { return used_; }

 private:
  ObjectLoad what() {
    hawktrace* const skeleton = opened_.skeleton.get();
    return {.object = skeleton->obj,
            .load = [skeleton] { return hawktrace::load(skeleton) == 0; },
            .use_maps = [this] { return use_maps(); },
            .types = opened_.types.btf.empty() ? nullptr : &opened_.types,
            .maps = opened_.maps.get(),
            .later = {skeleton->progs.unfollowed_entry, skeleton->progs.signal_delivered, skeleton->progs.arena_shrink,
                      skeleton->progs.arena_sweep}};
  }

  bool use_maps() {
    hawktrace* const skeleton = opened_.skeleton.get();
    // libbpf leaves the programs' variables out where it takes a want of memory for a want of the kernel's.
    const bool has_variables = skeleton->data != nullptr && skeleton->rodata != nullptr && skeleton->bss != nullptr;
    if (has_variables) {
      used_ = use_(skeleton);
    } else {
      used_ = load_failure(ENOMEM, "");
    }
    return used_.has_value();
  }

  OpenObject& opened_;
  const UseMaps& use_;
  Result<void> used_;
};

template <class Choose>
Result<Skeleton> load_object(Choose choose, const char* hint, const KernelTypes& kernel, LaterPrograms& later,
                             const UseMaps& use_maps, bool makes_maps) {
  OpenObject opened = HAWK_TRY(open_object(choose, kernel, makes_maps));
  ObjectLoader loader(opened, use_maps);
  Loaded loaded = loader.load_in_parallel(later);
  if (loaded == Loaded::kNotAtOnce) {
    log_verbose("the kernel refuses programs that are loaded at the same time: they are loaded one after the other");
    later = {};
    HAWK_TRY_VOID(use_maps(nullptr));
    opened = HAWK_TRY(open_object(choose, kernel, makes_maps));
    loaded = loader.load_in_order();
  }
  if (loaded == Loaded::kYes) return std::move(opened.skeleton);
  const int reason = errno;
  HAWK_TRY_VOID(use_maps(nullptr));
  HAWK_TRY_VOID(loader.used());
  return load_failure(reason, hint);
}

constexpr const char* kReasonHint = "the kernel's reason is printed with --verbose";

/// Loads the programs that `pick` picks, which use the maps of `first`.
template <class Pick>
Result<Skeleton> load_further(const hawktrace& first, Pick pick) {
  const auto choose = [&](hawktrace& further) -> Result<void> {
    HAWK_TRY_VOID(share_maps(further, first));
    pick(further);
    return {};
  };
  LaterPrograms none;
  const auto use_no_maps = [](hawktrace*) { return Result<void>(); };
  Skeleton further = HAWK_TRY(load_object(choose, kReasonHint, KernelTypes(), none, use_no_maps, false));
  // The variables are accessed where those of `first` are mapped.
  hide_memory(memory_of_zeros(*further));
  return further;
}

}  // namespace

std::span<std::byte> memory_of_zeros(const hawktrace& skeleton) {
  return std::as_writable_bytes(std::span(skeleton.bss, 1));
}

Result<Skeleton> load_programs(const EngineOptions& options, LiveTable table, const MemoryPlan& plan,
                               const KernelTypes& types, LaterPrograms& later, const UseMaps& use_maps) {
  const hawk_config config = HAWK_TRY(make_config(options, table, plan, types));
  const auto choose = [&](hawktrace& skeleton) -> Result<void> {
    configure(skeleton, options, config, plan, types);
    configure_live_table(skeleton, table, plan);
    return make_zeros(skeleton);
  };
  const char* const hint =
      options.live_table == LiveTable::kArena
          ? "an arena needs Linux 6.10: leave --live-table out to use the best table that the kernel supports"
          : kReasonHint;
  return load_object(choose, hint, types, later, use_maps, true);
}

Result<Skeleton> load_throwing_programs(const hawktrace& first) {
  return load_further(first, [](hawktrace& further) {
    for (bpf_program* program : {further.progs.alloc_entry, further.progs.alloc_return}) {
      bpf_program__set_autoload(program, true);
      bpf_program__set_expected_attach_type(program, kMulti);
    }
  });
}

Result<Skeleton> load_session_program(const hawktrace& first) {
  return load_further(first, [](hawktrace& further) {
    bpf_program__set_autoload(further.progs.alloc_session, true);
    bpf_program__set_expected_attach_type(further.progs.alloc_session, kSession);
  });
}

}  // namespace hawk

// Attaches the programs of trap_floor.bpf.c to one process until its standard input ends:
//
//   bench_floor_tracer [--stackid] session|multi|perf PID PROBE...
//
// With --stackid each return calls bpf_get_stackid. A PROBE is call:OFFSET:FILE for an allocator function, which traps
// at its entry and at its return: on the instruction that hawktrace reports. Or free:OFFSET:FILE for one that only
// traps at its entry, and begins at OFFSET: on the first instruction that the kernel emulates, which in glibc is a
// push. hawktrace goes on to a cheaper one where it can; the floor stays, so that what is measured against it can be
// compared with what was. Prints "= ready" once the probes are in place, and in the end "= hit DEPTH" if entries and
// returns were, "= missed" otherwise. DEPTH: frames of the deepest stack that bpf_get_stackid found.
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trap_floor.skel.h"
#include "userspace/base/owned.h"
#include "userspace/base/result.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/code/probe_placement.h"
#include "userspace/elf/elf_image.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/links.h"

namespace hawk {
namespace {

/// A value of the map `stacks`.
constexpr std::size_t kStackFrames = 127;

using Skeleton = std::unique_ptr<trap_floor, Freer<trap_floor::destroy>>;

/// What is to be probed in one file.
struct FileProbes {
  std::vector<Probe> calls;
  std::vector<Probe> frees;
};

struct Arguments {
  AttachWay way = AttachWay::kSession;
  bool stackid = false;
  int pid = 0;
  std::map<std::string, FileProbes, std::less<>> files;
};

/// What is in place; destroyed from the last member to the first.
struct Floor {
  Skeleton skeleton;
  bpf_program* session;
  bpf_program* on_return;
  std::vector<UniqueFd> multi_links;
  std::vector<PerfLink> perf_links;
};

Result<Skeleton> load_programs(AttachWay way) {
  Skeleton skeleton(trap_floor::open(nullptr));
  if (!skeleton) return fail(ExitCode::kPrivilege, fmt::format("open the BPF programs: {}", std::strerror(errno)));
  const auto& programs = skeleton->progs;
  for (bpf_program* program : {programs.session_floor, programs.session_stackid}) {
    bpf_program__set_autoload(program, way == AttachWay::kSession);
    bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(kAttachTypeUprobeSession));
  }
  if (way != AttachWay::kPerf) {
    for (bpf_program* program : {programs.entry_floor, programs.return_floor, programs.return_stackid}) {
      bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(kAttachTypeUprobeMulti));
    }
  }
  if (trap_floor::load(skeleton.get()) != 0) {
    return fail(ExitCode::kPrivilege, fmt::format("load the BPF programs: {}", std::strerror(errno)));
  }
  return skeleton;
}

/// Which program goes where: a link of each sort per file, as hawktrace has them.
struct Placement {
  bpf_program* program = nullptr;
  const std::string& path;
  const std::vector<Probe>& probes;
  bool on_return = false;
  unsigned attach_type = kAttachTypeUprobeMulti;
};

Result<void> add_probes(Floor& floor, const Arguments& arguments, const Placement& place) {
  if (place.probes.empty()) return {};
  if (arguments.way != AttachWay::kPerf) {
    floor.multi_links.push_back(HAWK_TRY(make_multi_link({.program_fd = bpf_program__fd(place.program),
                                                          .attach_type = place.attach_type,
                                                          .path = place.path,
                                                          .probes = place.probes,
                                                          .pid = arguments.pid,
                                                          .on_return = place.on_return})));
    return {};
  }
  for (const Probe& probe : place.probes) {
    floor.perf_links.push_back(HAWK_TRY(PerfLink::make({.program = place.program,
                                                        .path = place.path,
                                                        .probe = probe,
                                                        .pid = arguments.pid,
                                                        .on_return = place.on_return})));
  }
  return {};
}

/// Moves each from where its function begins to where the floor probes it.
Result<void> place_frees(const std::string& path, std::vector<Probe>& frees) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_failure(ExitCode::kFile, fmt::format("open {}", path), errno);
  const ElfImage image = HAWK_TRY(ElfImage::make(std::move(fd), path));
  BranchTargets resolver(image);
  const std::vector<ElfFunction> functions = image.public_functions("");
  for (Probe& probe : frees) {
    const std::optional<std::uint64_t> entry = image.vaddr_of(probe.file_offset);
    const auto function = std::find_if(functions.begin(), functions.end(),
                                       [&](const ElfFunction& each) { return entry && each.vaddr == *entry; });
    if (function == functions.end()) return fail(ExitCode::kUsage, fmt::format("no function begins there in {}", path));
    const ProbePoint point = place_probe(resolver, {function->vaddr, function->size_bytes}, HAWK_CALL_FREE);
    probe.file_offset += point.vaddr - function->vaddr;
  }
  return {};
}

Result<void> add_file(Floor& floor, const Arguments& arguments, const std::string& path, const FileProbes& probes) {
  bpf_program* entry = floor.skeleton->progs.entry_floor;
  HAWK_TRY_VOID(add_probes(floor, arguments, {.program = entry, .path = path, .probes = probes.frees}));
  if (arguments.way == AttachWay::kSession) {
    return add_probes(
        floor, arguments,
        {.program = floor.session, .path = path, .probes = probes.calls, .attach_type = kAttachTypeUprobeSession});
  }
  HAWK_TRY_VOID(add_probes(floor, arguments,
                           {.program = floor.on_return, .path = path, .probes = probes.calls, .on_return = true}));
  return add_probes(floor, arguments, {.program = entry, .path = path, .probes = probes.calls});
}

Result<Floor> attach(Arguments arguments) {
  Skeleton skeleton = HAWK_TRY(load_programs(arguments.way));
  const auto& programs = skeleton->progs;
  Floor floor = {.skeleton = nullptr,
                 .session = arguments.stackid ? programs.session_stackid : programs.session_floor,
                 .on_return = arguments.stackid ? programs.return_stackid : programs.return_floor,
                 .multi_links = {},
                 .perf_links = {}};
  floor.skeleton = std::move(skeleton);
  for (auto& [path, probes] : arguments.files) {
    HAWK_TRY_VOID(place_frees(path, probes.frees));
    HAWK_TRY_VOID(add_file(floor, arguments, path, probes));
  }
  return floor;
}

/// Takes "call:OFFSET:FILE" or "free:OFFSET:FILE"; false for anything else.
bool add_argument(Arguments& arguments, std::string_view text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  if (second == std::string_view::npos) return false;
  const std::string_view kind = text.substr(0, first);
  const std::string_view number = text.substr(first + 1, second - first - 1);
  Probe probe;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), probe.file_offset);
  if (error != std::errc() || end != number.data() + number.size()) return false;
  FileProbes& file = arguments.files[std::string(text.substr(second + 1))];
  if (kind != "call" && kind != "free") return false;
  (kind == "call" ? file.calls : file.frees).push_back(probe);
  return true;
}

std::optional<Arguments> parse_arguments(int count, char** values) {
  const bool stackid = count > 1 && std::string_view(values[1]) == "--stackid";
  const int first = stackid ? 2 : 1;
  if (count < first + 3) return std::nullopt;
  const std::optional<AttachWay> way = parse_attach_way(values[first]);
  Arguments arguments = {
      .way = way.value_or(AttachWay::kSession), .stackid = stackid, .pid = std::atoi(values[first + 1]), .files = {}};
  if (!way || arguments.pid <= 0) return std::nullopt;
  for (int i = first + 2; i < count; i++) {
    if (!add_argument(arguments, values[i])) return std::nullopt;
  }
  return arguments;
}

/// Frames of the deepest stack in the map.
std::ptrdiff_t deepest_stack(int stacks_fd) {
  std::array<std::uint64_t, kStackFrames> frames = {};
  std::ptrdiff_t deepest = 0;
  std::uint32_t key = 0;
  for (const std::uint32_t* previous = nullptr; bpf_map_get_next_key(stacks_fd, previous, &key) == 0; previous = &key) {
    if (bpf_map_lookup_elem(stacks_fd, &key, frames.data()) != 0) continue;
    deepest = std::max(deepest, std::find(frames.begin(), frames.end(), 0u) - frames.begin());
  }
  return deepest;
}

void wait_for_end_of_input() {
  char ignored;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
}

void say(std::string_view what) {
  fmt::print("= {}\n", what);
  std::fflush(stdout);
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  const std::optional<hawk::Arguments> arguments = hawk::parse_arguments(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "usage: {} [--stackid] session|multi|perf PID call:OFFSET:FILE|free:OFFSET:FILE...\n", argv[0]);
    return static_cast<int>(hawk::ExitCode::kUsage);
  }
  const hawk::Result<hawk::Floor> floor = hawk::attach(*arguments);
  if (!floor) {
    fmt::print(stderr, "floor tracer: error: {}\n", floor.error().what);
    return static_cast<int>(floor.error().exit_code);
  }
  hawk::say("ready");
  hawk::wait_for_end_of_input();
  const auto* proof = floor->skeleton->bss;
  const int stacks_fd = bpf_map__fd(floor->skeleton->maps.stacks);
  hawk::say(proof->entry_was_hit && proof->return_was_hit ? fmt::format("hit {}", hawk::deepest_stack(stacks_fd))
                                                          : "missed");
  return 0;
}

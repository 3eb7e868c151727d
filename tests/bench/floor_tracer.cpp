// Attaches the programs of trap_floor.bpf.c to one process until its standard input ends:
//
//   bench_floor_tracer session|multi|perf PID PROBE...
//
// A PROBE is call:OFFSET:FILE for an allocator function, which traps at its entry and at its return, or
// free:OFFSET:FILE for one that only traps at its entry. Functions and offsets are the ones that hawktrace reports, so
// that both have the same traps. Prints "= ready" once the probes are in place, and in the end "= hit" if entries and
// returns were, "= missed" otherwise.
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <unistd.h>

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
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/links.h"

namespace hawk {
namespace {

using Skeleton = std::unique_ptr<trap_floor, Freer<trap_floor::destroy>>;

/// What is to be probed in one file.
struct FileProbes {
  std::vector<Probe> calls;
  std::vector<Probe> frees;
};

struct Arguments {
  AttachWay way = AttachWay::kSession;
  int pid = 0;
  std::map<std::string, FileProbes, std::less<>> files;
};

/// What is in place; destroyed from the last member to the first.
struct Floor {
  Skeleton skeleton;
  std::vector<UniqueFd> multi_links;
  std::vector<PerfLink> perf_links;
};

Result<Skeleton> load_programs(AttachWay way) {
  Skeleton skeleton(trap_floor::open(nullptr));
  if (!skeleton) return fail(ExitCode::kPrivilege, fmt::format("open the BPF programs: {}", std::strerror(errno)));
  bpf_program__set_autoload(skeleton->progs.session_floor, way == AttachWay::kSession);
  bpf_program__set_expected_attach_type(skeleton->progs.session_floor,
                                        static_cast<bpf_attach_type>(kAttachTypeUprobeSession));
  if (way != AttachWay::kPerf) {
    for (bpf_program* program : {skeleton->progs.entry_floor, skeleton->progs.return_floor}) {
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

Result<void> add_file(Floor& floor, const Arguments& arguments, const std::string& path, const FileProbes& probes) {
  bpf_program* entry = floor.skeleton->progs.entry_floor;
  HAWK_TRY_VOID(add_probes(floor, arguments, {.program = entry, .path = path, .probes = probes.frees}));
  if (arguments.way == AttachWay::kSession) {
    return add_probes(floor, arguments,
                      {.program = floor.skeleton->progs.session_floor,
                       .path = path,
                       .probes = probes.calls,
                       .attach_type = kAttachTypeUprobeSession});
  }
  HAWK_TRY_VOID(add_probes(
      floor, arguments,
      {.program = floor.skeleton->progs.return_floor, .path = path, .probes = probes.calls, .on_return = true}));
  return add_probes(floor, arguments, {.program = entry, .path = path, .probes = probes.calls});
}

Result<Floor> attach(const Arguments& arguments) {
  Floor floor = {.skeleton = HAWK_TRY(load_programs(arguments.way)), .multi_links = {}, .perf_links = {}};
  for (const auto& [path, probes] : arguments.files) {
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
  if (count < 4) return std::nullopt;
  const std::optional<AttachWay> way = parse_attach_way(values[1]);
  Arguments arguments = {.way = way.value_or(AttachWay::kSession), .pid = std::atoi(values[2]), .files = {}};
  if (!way || arguments.pid <= 0) return std::nullopt;
  for (int i = 3; i < count; i++) {
    if (!add_argument(arguments, values[i])) return std::nullopt;
  }
  return arguments;
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
    fmt::print(stderr, "usage: {} session|multi|perf PID call:OFFSET:FILE|free:OFFSET:FILE...\n", argv[0]);
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
  hawk::say(proof->entry_was_hit && proof->return_was_hit ? "hit" : "missed");
  return 0;
}

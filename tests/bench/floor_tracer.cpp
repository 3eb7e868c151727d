// Attaches the programs of trap_floor.bpf.c to one process until its standard input ends:
//
//   bench_floor_tracer session|multi|perf PID FILE MALLOC_OFFSET FREE_OFFSET
//
// Three traps per malloc+free pair, as hawktrace has them: malloc's entry, its return, and free's entry. The offsets
// are the ones that hawktrace chose. Prints "ready" once the probes are in place.
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
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

struct Arguments {
  AttachWay way = AttachWay::kSession;
  int pid = 0;
  std::string file;
  std::uint64_t malloc_offset = 0;
  std::uint64_t free_offset = 0;
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
    bpf_program__set_expected_attach_type(skeleton->progs.probe_floor,
                                          static_cast<bpf_attach_type>(kAttachTypeUprobeMulti));
  }
  if (trap_floor::load(skeleton.get()) != 0) {
    return fail(ExitCode::kPrivilege, fmt::format("load the BPF programs: {}", std::strerror(errno)));
  }
  return skeleton;
}

/// One probe at `offset`, by the program that its kind of link wants.
Result<void> add_probe(Floor& floor, const Arguments& arguments, std::uint64_t offset, bool on_return) {
  bpf_program* program = floor.skeleton->progs.probe_floor;
  if (arguments.way == AttachWay::kPerf) {
    floor.perf_links.push_back(HAWK_TRY(PerfLink::make({.program = program,
                                                        .path = arguments.file,
                                                        .probe = {.file_offset = offset},
                                                        .pid = arguments.pid,
                                                        .on_return = on_return})));
    return {};
  }
  floor.multi_links.push_back(HAWK_TRY(make_multi_link({.program_fd = bpf_program__fd(program),
                                                        .attach_type = kAttachTypeUprobeMulti,
                                                        .path = arguments.file,
                                                        .probes = {{.file_offset = offset}},
                                                        .pid = arguments.pid,
                                                        .on_return = on_return})));
  return {};
}

Result<Floor> attach(const Arguments& arguments) {
  Floor floor = {.skeleton = HAWK_TRY(load_programs(arguments.way)), .multi_links = {}, .perf_links = {}};
  HAWK_TRY_VOID(add_probe(floor, arguments, arguments.free_offset, false));
  if (arguments.way != AttachWay::kSession) {
    HAWK_TRY_VOID(add_probe(floor, arguments, arguments.malloc_offset, true));
    HAWK_TRY_VOID(add_probe(floor, arguments, arguments.malloc_offset, false));
    return floor;
  }
  floor.multi_links.push_back(
      HAWK_TRY(make_multi_link({.program_fd = bpf_program__fd(floor.skeleton->progs.session_floor),
                                .attach_type = kAttachTypeUprobeSession,
                                .path = arguments.file,
                                .probes = {{.file_offset = arguments.malloc_offset}},
                                .pid = arguments.pid})));
  return floor;
}

std::optional<Arguments> parse_arguments(int count, char** values) {
  if (count != 6) return std::nullopt;
  const std::optional<AttachWay> way = parse_attach_way(values[1]);
  const int pid = std::atoi(values[2]);
  const std::uint64_t malloc_offset = std::strtoull(values[4], nullptr, 0);
  const std::uint64_t free_offset = std::strtoull(values[5], nullptr, 0);
  if (!way || pid <= 0 || malloc_offset == 0 || free_offset == 0) return std::nullopt;
  return Arguments{
      .way = *way, .pid = pid, .file = values[3], .malloc_offset = malloc_offset, .free_offset = free_offset};
}

void wait_for_end_of_input() {
  char ignored;
  while (::read(STDIN_FILENO, &ignored, 1) > 0) {
  }
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  const std::optional<hawk::Arguments> arguments = hawk::parse_arguments(argc, argv);
  if (!arguments) {
    fmt::print(stderr, "usage: {} session|multi|perf PID FILE MALLOC_OFFSET FREE_OFFSET\n", argv[0]);
    return static_cast<int>(hawk::ExitCode::kUsage);
  }
  const hawk::Result<hawk::Floor> floor = hawk::attach(*arguments);
  if (!floor) {
    fmt::print(stderr, "floor tracer: error: {}\n", floor.error().what);
    return static_cast<int>(floor.error().exit_code);
  }
  fmt::print("ready\n");
  std::fflush(stdout);
  hawk::wait_for_end_of_input();
  return 0;
}

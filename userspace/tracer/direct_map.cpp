#include "userspace/tracer/direct_map.h"

#include <bpf/bpf.h>
#include <sys/random.h>

#include <cstddef>
#include <cstdint>

#include "userspace/base/log.h"

namespace hawk {
namespace {

/// The program finds one page and looks for all the words there.
constexpr std::size_t kNeverInTwoPages = 128;
static_assert(sizeof(hawk_direct_map_check) <= kNeverInTwoPages);

}  // namespace

void find_direct_map(int program_fd, hawk_state& state) {
  alignas(kNeverInTwoPages) hawk_direct_map_check check = {};
  if (program_fd < 0 || ::getrandom(check.words, sizeof(check.words), 0) != sizeof(check.words)) return;
  check.address = reinterpret_cast<std::uintptr_t>(&check.words);
  // The program receives a copy of the address; it must find the words themselves.
  hawk_direct_map_check argument = check;
  LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &argument, .ctx_size_in = sizeof(argument));
  if (bpf_prog_test_run_opts(program_fd, &options) != 0) argument.direct_map = 0;
  state.direct_map = argument.direct_map;
  log_verbose(argument.direct_map != 0 ? "stacks are read through the kernel's direct map"
                                       : "the direct map was not found: stacks are read through a helper");
}

}  // namespace hawk

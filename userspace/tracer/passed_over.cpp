#include "userspace/tracer/passed_over.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <utility>

#include "userspace/base/log.h"

namespace hawk {

std::optional<std::uint64_t> PassedOver::count_in_kernel(int program) {
  bpf_prog_info info = {};
  __u32 size = sizeof(info);
  if (bpf_prog_get_info_by_fd(program, &info, &size) != 0) return std::nullopt;
  return info.recursion_misses;
}

void PassedOver::watch(int program, std::string name) {
  programs_.push_back({.fd = program, .name = std::move(name), .taken = count_(program).value_or(0)});
}

std::uint64_t PassedOver::take() {
  std::uint64_t all = 0;
  for (Program& program : programs_) {
    const std::uint64_t now = count_(program.fd).value_or(program.taken);
    const std::uint64_t more = now - std::exchange(program.taken, now);
    if (more != 0) log_verbose(fmt::format("{} was passed over {} times", program.name, more));
    all += more;
  }
  return all;
}

}  // namespace hawk

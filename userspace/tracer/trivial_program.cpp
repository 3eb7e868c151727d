#include "userspace/tracer/trivial_program.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <array>

namespace hawk {

UniqueFd load_trivial_program(unsigned attach_type) {
  const std::array<bpf_insn, 2> instructions = {{
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  }};
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = static_cast<bpf_attach_type>(attach_type));
  return UniqueFd(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "hawk_probe", "GPL", instructions.data(), instructions.size(), &options));
}

}  // namespace hawk

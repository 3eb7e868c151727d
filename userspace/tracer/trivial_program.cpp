#include "userspace/tracer/trivial_program.h"

#include <bpf/bpf.h>
namespace hawk {

namespace {

UniqueFd load(bpf_prog_type type, const bpf_prog_load_opts& options) {
  const auto instructions = trivial_instructions();
  bpf_prog_load_opts copy = options;
  return UniqueFd(bpf_prog_load(type, "hawk_probe", "GPL", instructions.data(), instructions.size(), &copy));
}

}  // namespace

std::array<bpf_insn, 2> trivial_instructions() {
  return {{
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  }};
}

UniqueFd load_trivial_program(unsigned attach_type) {
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = static_cast<bpf_attach_type>(attach_type));
  return load(BPF_PROG_TYPE_KPROBE, options);
}

UniqueFd load_trivial_function_program(unsigned function) {
  LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY, .attach_btf_id = function);
  return load(BPF_PROG_TYPE_TRACING, options);
}

}  // namespace hawk

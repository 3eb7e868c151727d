#include "userspace/tracer/waiting_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <cerrno>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/libbpf_hooks.h"

namespace hawk {
namespace {

bool calls_kernel_function(const bpf_insn& instruction) {
  return instruction.code == (BPF_JMP | BPF_CALL) && instruction.src_reg == BPF_PSEUDO_KFUNC_CALL;
}

bool has_address_of_kernel_function(const bpf_insn& instruction) {
  return instruction.code == (BPF_LD | BPF_IMM | BPF_DW) && instruction.src_reg == BPF_PSEUDO_BTF_ID;
}

}  // namespace

WaitingProgram::Records WaitingProgram::copy_of(const void* records, std::size_t count, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(records);
  return bytes == nullptr ? Records() : Records(bytes, bytes + count * size);
}

WaitingProgram::WaitingProgram(bpf_prog_type type, const char* name, const char* license,
                               std::span<const bpf_insn> instructions, const bpf_prog_load_opts& options)
    : type_(type),
      name_(name),
      license_(license),
      instructions_(instructions.begin(), instructions.end()),
      functions_(copy_of(options.func_info, options.func_info_cnt, options.func_info_rec_size)),
      lines_(copy_of(options.line_info, options.line_info_cnt, options.line_info_rec_size)),
      options_(options) {}

void WaitingProgram::number_types_by(std::span<const std::uint32_t> kernel_numbers) {
  const auto number = [&](std::uint32_t ours) { return ours < kernel_numbers.size() ? kernel_numbers[ours] : 0; };
  options_.attach_btf_id = number(options_.attach_btf_id);
  for (bpf_insn& instruction : instructions_) {
    if (calls_kernel_function(instruction) || has_address_of_kernel_function(instruction))
      instruction.imm = static_cast<__s32>(number(static_cast<std::uint32_t>(instruction.imm)));
  }
}

int WaitingProgram::load(const bpf_prog_load_opts& log) {
  bpf_prog_load_opts options = options_;
  options.func_info = functions_.data();
  options.line_info = lines_.data();
  options.log_level = log.log_level;
  options.log_buf = log.log_buf;
  options.log_size = log.log_size;
  return __real_bpf_prog_load(type_, name_.c_str(), license_.c_str(), instructions_.data(), instructions_.size(),
                              &options);
}

int WaitingProgram::load() { return load({}); }

bool WaitingProgram::load_as(const bpf_program& program) {
  const UniqueFd loaded(load());
  return loaded && ::dup3(loaded.get(), bpf_program__fd(&program), O_CLOEXEC) >= 0;
}

Result<void> LaterPrograms::require(const bpf_program* program) {
  const auto found = waiting_.find(program);
  if (found == waiting_.end()) return {};
  if (!found->second.load_as(*program))
    return system_failure(ExitCode::kPrivilege, fmt::format("load the BPF program {}", bpf_program__name(program)),
                          errno);
  waiting_.erase(found);
  return {};
}

}  // namespace hawk

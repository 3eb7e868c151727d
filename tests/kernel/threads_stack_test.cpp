// bpf/threads_stack.bpf.h: no uprobe program is given a stack by the kernel.
#include <bpf/bpf.h>
#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tests/kernel/harness/engine_world.h"
#include "tests/kernel/harness/kernel_test.h"
#include "tests/support/kernel_release.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

/// "add %gs:..., %r9": with that the kernel's compiler finds the stack of this CPU.
constexpr std::string_view kToStackOfCpu = "\x65\x4c\x03\x0c\x25";

struct LoadedProgram {
  std::string name;
  std::uint32_t type = 0;
  bool has_stack_of_cpu = false;
};

LoadedProgram look_at(int program) {
  bpf_prog_info info = {};
  __u32 size = sizeof(info);
  EXPECT_EQ(bpf_obj_get_info_by_fd(program, &info, &size), 0);
  std::string code(info.jited_prog_len, '\0');
  bpf_prog_info with_code = {};
  with_code.jited_prog_len = info.jited_prog_len;
  with_code.jited_prog_insns = reinterpret_cast<__u64>(code.data());
  size = sizeof(with_code);
  EXPECT_EQ(bpf_obj_get_info_by_fd(program, &with_code, &size), 0);
  EXPECT_NE(code, std::string(code.size(), '\0')) << "the kernel does not show its code";
  return {.name = info.name, .type = info.type, .has_stack_of_cpu = code.find(kToStackOfCpu) != std::string::npos};
}

/// All that this process has loaded.
std::vector<LoadedProgram> own_programs() {
  std::vector<LoadedProgram> programs;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry, ignored) == "anon_inode:bpf-prog")
      programs.push_back(look_at(std::stoi(entry.path().filename())));
  }
  return programs;
}

/// One that has much stack, and no tail call.
UniqueFd load_deep_program() {
  const std::array<bpf_insn, 3> instructions = {{
      {.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .src_reg = 0, .off = -256, .imm = 0},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  }};
  return UniqueFd(
      bpf_prog_load(BPF_PROG_TYPE_KPROBE, "deep", "GPL", instructions.data(), instructions.size(), nullptr));
}

KERNEL_TEST_OF_CALLS(threads_stack, is_what_every_uprobe_program_has) {
  const TestEngine engine(way);
  const UniqueFd deep = load_deep_program();
  ASSERT_TRUE(deep);
  EXPECT_EQ(look_at(deep.get()).has_stack_of_cpu, kernel_is_at_least(6, 13)) << "such a stack is not recognised";
  std::vector<LoadedProgram> programs = own_programs();
  std::erase_if(programs, [](const LoadedProgram& program) {
    return program.type != BPF_PROG_TYPE_KPROBE || program.name == "deep";
  });
  EXPECT_GE(programs.size(), 4U);
  for (const LoadedProgram& program : programs) EXPECT_FALSE(program.has_stack_of_cpu) << program.name;
}

}  // namespace
}  // namespace hawk

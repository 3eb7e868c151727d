#include "userspace/tracer/kernel_code.h"

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace hawk {
namespace {

constexpr std::size_t kNameBytes = 56;

/// What the program is given and answers.
struct Question {
  char name[kNameBytes];  ///< with zeros behind it
  std::uint64_t address;
  std::uint64_t bytes;
  std::int64_t look_up_error;  ///< negative errno
  std::int64_t read_error;
};

constexpr std::uint8_t kQuestion = BPF_REG_6;
/// In the program's stack: what helpers answer, and the name, which they take from nowhere else.
constexpr std::int16_t kAddressAt = -8, kBytesAt = -16, kNameAt = kBytesAt - static_cast<std::int16_t>(kNameBytes);

constexpr bpf_insn instruction(int code, std::uint8_t to, std::uint8_t from, std::size_t offset, std::int32_t value) {
  bpf_insn made = {};
  made.code = static_cast<__u8>(code);
  made.dst_reg = to & 0xFU;
  made.src_reg = from & 0xFU;
  made.off = static_cast<__s16>(offset);
  made.imm = value;
  return made;
}

constexpr bpf_insn move(std::uint8_t to, std::uint8_t from) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

constexpr bpf_insn set(std::uint8_t to, std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

constexpr bpf_insn add(std::uint8_t to, std::int32_t value) {
  return instruction(BPF_ALU64 | BPF_ADD, to, 0, 0, value);  // BPF_K is 0, as BPF_ADD
}

constexpr bpf_insn load(std::uint8_t to, std::uint8_t from, std::size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_DW, to, from, offset, 0);
}

constexpr bpf_insn store(std::uint8_t to, std::size_t offset, std::uint8_t from) {
  return instruction(BPF_STX | BPF_MEM | BPF_DW, to, from, offset, 0);
}

constexpr bpf_insn clear(std::int16_t at) {
  return instruction(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, static_cast<std::size_t>(at), 0);
}

constexpr bpf_insn call(std::int32_t helper) { return instruction(BPF_JMP | BPF_CALL, 0, 0, 0, helper); }

/// The address of the name, and what is there. A name that does not exist has no code to read.
std::vector<bpf_insn> make_program() {
  std::vector<bpf_insn> program = {move(kQuestion, BPF_REG_1), clear(kAddressAt), clear(kBytesAt)};
  for (std::size_t at = 0; at < kNameBytes; at += 8) {
    program.push_back(load(BPF_REG_1, kQuestion, offsetof(Question, name) + at));
    program.push_back(store(BPF_REG_10, kNameAt + at, BPF_REG_1));
  }
  for (const bpf_insn& made : {
           move(BPF_REG_1, BPF_REG_10),
           add(BPF_REG_1, kNameAt),
           set(BPF_REG_2, kNameBytes),
           set(BPF_REG_3, 0),
           move(BPF_REG_4, BPF_REG_10),
           add(BPF_REG_4, kAddressAt),
           call(BPF_FUNC_kallsyms_lookup_name),
           store(kQuestion, offsetof(Question, look_up_error), BPF_REG_0),
           move(BPF_REG_1, BPF_REG_10),
           add(BPF_REG_1, kBytesAt),
           set(BPF_REG_2, sizeof(Question::bytes)),
           load(BPF_REG_3, BPF_REG_10, kAddressAt),
           store(kQuestion, offsetof(Question, address), BPF_REG_3),
           call(BPF_FUNC_probe_read_kernel),
           store(kQuestion, offsetof(Question, read_error), BPF_REG_0),
           load(BPF_REG_1, BPF_REG_10, kBytesAt),
           store(kQuestion, offsetof(Question, bytes), BPF_REG_1),
           set(BPF_REG_0, 0),
           instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
       })
    program.push_back(made);
  return program;
}

UniqueFd load_program() {
  LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_SLEEPABLE);
  const std::vector<bpf_insn> program = make_program();
  return UniqueFd(bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "hawk_code", "GPL", program.data(), program.size(), &options));
}

}  // namespace

KernelCodeReader::KernelCodeReader() : program_(load_program()) {}

std::optional<KernelCode> KernelCodeReader::read(std::string_view name) const {
  Question question = {};
  if (!program_ || name.size() >= sizeof(question.name)) return std::nullopt;
  std::copy(name.begin(), name.end(), question.name);
  LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = &question, .ctx_size_in = sizeof(question));
  if (bpf_prog_test_run_opts(program_.get(), &options) != 0) return std::nullopt;
  if (question.look_up_error == -ENOENT) return KernelCode();
  if (question.look_up_error != 0 || question.read_error != 0) return std::nullopt;
  KernelCode code = {.address = question.address};
  static_assert(sizeof(code.bytes) == sizeof(question.bytes));
  std::copy_n(reinterpret_cast<const std::uint8_t*>(&question.bytes), code.bytes.size(), code.bytes.begin());
  return code;
}

}  // namespace hawk

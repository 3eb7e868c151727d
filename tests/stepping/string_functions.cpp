#include "tests/stepping/string_functions.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <span>
#include <vector>

namespace hawk::testing {
namespace {

/// A changed allocator asks for anything.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

bool write_memory(pid_t thread, std::uint64_t to, std::span<const std::uint8_t> bytes) {
  const iovec local = {const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  const iovec there = {reinterpret_cast<void*>(to), bytes.size()};
  return ::process_vm_writev(thread, &local, 1, &there, 1, 0) == static_cast<ssize_t>(bytes.size());
}

}  // namespace

std::uint64_t word_at(pid_t thread, std::uint64_t address) {
  return static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKDATA, thread, address, nullptr));
}

std::uint64_t finish_string(pid_t thread) {
  user_regs_struct regs = {};
  ::ptrace(PTRACE_GETREGS, thread, nullptr, &regs);
  const std::uint64_t code = word_at(thread, regs.rip);
  const bool is_wide = (code >> 8 & 0xff) == 0x48;
  const auto opcode = static_cast<std::uint8_t>(code >> (is_wide ? 16 : 8));
  const bool moves = (opcode & 0xfe) == 0xa4, stores = (opcode & 0xfe) == 0xaa;
  if ((code & 0xff) != 0xf3 || !(moves || stores)) return regs.rip;
  const std::size_t each = (opcode & 1) == 0 ? 1 : is_wide ? 8 : 4, bytes = regs.rcx * each;
  if (bytes > kMostBytes) return regs.rip;
  std::vector<std::uint8_t> data(bytes);
  for (std::size_t i = 0; i < bytes && stores; ++i) data[i] = static_cast<std::uint8_t>(regs.rax >> i % each * 8);
  const iovec local = {data.data(), bytes};
  const iovec from = {reinterpret_cast<void*>(regs.rsi), bytes};
  // What overlaps is moved byte by byte, by steps.
  if (moves && regs.rdi - regs.rsi < bytes) return regs.rip;
  if (moves && ::process_vm_readv(thread, &local, 1, &from, 1, 0) != static_cast<ssize_t>(bytes)) return regs.rip;
  if (!write_memory(thread, regs.rdi, data)) return regs.rip;
  regs.rdi += bytes;
  regs.rsi += moves ? bytes : 0;
  regs.rcx = 0;
  regs.rip += is_wide ? 3 : 2;
  ::ptrace(PTRACE_SETREGS, thread, nullptr, &regs);
  return regs.rip;
}

std::uint64_t StringFunctions::run(pid_t thread, std::uint64_t rip) const {
  if (rip != set && rip != copy && rip != move) return rip;
  user_regs_struct regs = {};
  ::ptrace(PTRACE_GETREGS, thread, nullptr, &regs);
  if (regs.rdx > kMostBytes) return rip;
  std::vector<std::uint8_t> bytes(regs.rdx, static_cast<std::uint8_t>(regs.rsi));
  const iovec local = {bytes.data(), bytes.size()}, from = {reinterpret_cast<void*>(regs.rsi), bytes.size()};
  const auto copied = static_cast<ssize_t>(bytes.size());
  if (rip != set && ::process_vm_readv(thread, &local, 1, &from, 1, 0) != copied) return rip;
  if (!write_memory(thread, regs.rdi, bytes)) return rip;
  regs.rax = regs.rdi;
  regs.rip = word_at(thread, regs.rsp);
  regs.rsp += 8;
  ::ptrace(PTRACE_SETREGS, thread, nullptr, &regs);
  return regs.rip;
}

}  // namespace hawk::testing

#include "tests/stepping/stepped_program.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "bpf/arch/x86_64/condition.h"
#include "bpf/requested_size.h"
#include "tests/stepping/mapped_code.h"
#include "tests/stepping/string_functions.h"

namespace hawk::testing {
namespace {

/// In rax at a breakpoint of calls.c.
constexpr std::uint64_t kBegin = 1;
constexpr std::uint64_t kLast = 2;             ///< in rsi
constexpr std::uint64_t kStringFunctions = 3;  ///< rdi, rsi and rdx are memset, memcpy and memmove
constexpr std::size_t kMostWrong = 20;

std::uint64_t register_of(const user_regs_struct& regs, std::uint32_t number) {
  const std::uint64_t values[] = {regs.rax, regs.rcx, regs.rdx, regs.rbx, regs.rsp, regs.rbp, regs.rsi, regs.rdi,
                                  regs.r8,  regs.r9,  regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15};
  return values[number & 15];
}

/// A call that has been seen to begin, and is to be seen to return.
struct Open {
  const AllocatorFunction* function;
  std::uint64_t slot;
  std::uint64_t return_address;
  std::uint64_t size_bytes;
  std::uint64_t result_at = 0;
  bool by_return_probe = false;
  std::optional<InnerCall> inner = {};
  std::uint64_t inner_return = 0;
};

struct Seen {
  std::uint64_t block;
  std::uint64_t size_bytes;
  std::uint64_t slot;
  bool is_inside;  ///< another call was open
  std::string where;
};

/// What is read-only too.
void change_code(pid_t thread, std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::uint64_t word = (word_at(thread, address + i) & ~std::uint64_t{0xff}) | bytes[i];
    ::ptrace(PTRACE_POKEDATA, thread, address + i, word);
  }
}

/// One call, stepped through.
class Call {
 public:
  Call(pid_t thread, const MappedCode& code, std::uint64_t size_bytes, Stepped& shown)
      : thread_(thread), code_(code), size_bytes_(size_bytes), shown_(shown) {}

  /// Whether anything can be seen there.
  bool wants(std::uint64_t address) const {
    const auto returns_there = [&](const Open& open) { return open.by_return_probe && open.return_address == address; };
    return code_.is_seen(address) || std::any_of(open_.begin(), open_.end(), returns_there);
  }

  void at(const user_regs_struct& regs) {
    see_returns(regs);
    const std::optional<std::uint64_t> offset = code_.offset_of(regs.rip);
    if (!offset) return;
    if (const AllocatorFunction* function = code_.entry_at(*offset)) enter(*function, regs);
    const std::vector<MappedCode::At>* points = code_.points_at(*offset);
    if (points == nullptr) return;
    for (const MappedCode::At& at : *points) {
      // Functions that share a point say the same of it.
      if (hit(*at.function, *at.point, regs)) break;
    }
  }

  void end(std::uint64_t block, bool has_thrown) {
    ++shown_.calls;
    // Those that were left that way are found to be when the next one begins.
    if (has_thrown) open_.clear();
    std::vector<Seen> own;
    std::copy_if(seen_.begin(), seen_.end(), std::back_inserter(own), [](const Seen& seen) { return !seen.is_inside; });
    // The exception is a block of the program's too. Where operator new is a caller of malloc and no more
    // (jemalloc 5.2), nothing is open any more by then.
    if (has_thrown) std::erase_if(own, [&](const Seen& seen) { return seen.size_bytes != size_bytes_; });
    if (block == 0) ++shown_.failed_calls;
    if (block == 0 && own.empty() && open_.empty()) return;
    const bool is_right = block != 0 && own.size() == 1 && own[0].block == block && own[0].size_bytes == size_bytes_;
    if (is_right) ++shown_.seen[own[0].where];
    if ((is_right && open_.empty()) || shown_.wrong.size() >= kMostWrong) return;
    std::string text = fmt::format("{} bytes, block {:#x}, {} open:", size_bytes_, block, open_.size());
    for (const Open& open : open_) text += fmt::format(" {{{} at {:#x}}}", name_of(*open.function), open.slot);
    for (const Seen& seen : own)
      text += fmt::format(" [{}: {} bytes, block {:#x}]", seen.where, seen.size_bytes, seen.block);
    shown_.wrong.push_back(text);
  }

 private:
  static std::string name_of(const AllocatorFunction& function) { return function.names.back(); }

  void close(std::uint64_t slot) {
    std::erase_if(open_, [slot](const Open& open) { return open.slot == slot; });
  }

  void yield(std::uint64_t result, std::uint64_t size_bytes, std::uint64_t slot, std::string where) {
    close(slot);
    if (result != 0) seen_.push_back({result, size_bytes, slot, !open_.empty(), std::move(where)});
  }

  std::uint64_t result_of(const Open& open, std::uint64_t result) const {
    if (open.function->kind != HAWK_CALL_POSIX_MEMALIGN) return result;
    return static_cast<std::uint32_t>(result) != 0 ? 0 : word_at(thread_, open.result_at);
  }

  void see_returns(const user_regs_struct& regs) {
    const auto returned = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
      return open.by_return_probe && regs.rip == open.return_address && regs.rsp == open.slot + 8;
    });
    if (returned == open_.end()) return;
    const Open open = *returned;
    yield(result_of(open, regs.rax), open.size_bytes, open.slot, "a return probe of " + name_of(*open.function));
  }

  /// It has the slot of its caller, which goes on to be the one that is open.
  bool is_tail_call(std::uint64_t slot) const {
    return std::any_of(open_.begin(), open_.end(),
                       [slot](const Open& open) { return open.slot == slot && open.by_return_probe; });
  }

  void enter(const AllocatorFunction& function, const user_regs_struct& regs) {
    if (is_tail_call(regs.rsp)) return;
    close(regs.rsp);
    open_.push_back({.function = &function,
                     .slot = regs.rsp,
                     .return_address = word_at(thread_, regs.rsp),
                     .size_bytes = hawk_requested_bytes(function.kind, regs.rdi, regs.rsi, regs.rdx),
                     .result_at = regs.rdi,
                     .by_return_probe = function.yields.points.empty()});
  }

  std::uint64_t value(const Operand& operand, const user_regs_struct& regs) const {
    switch (operand.kind) {
      case Operand::Kind::kRegister:
        return register_of(regs, operand.index);
      case Operand::Kind::kStack:
        return word_at(thread_, regs.rsp + operand.index * 8);
      case Operand::Kind::kConstant:
        return operand.index;
      default:
        return 1;
    }
  }

  /// The block that the call is going to take.
  std::uint64_t first_of(const FreeList& list, const YieldPoint& point, std::uint64_t size,
                         const user_regs_struct& regs) const {
    const std::uint32_t rounded = static_cast<std::uint32_t>(size + list.size_added) >> list.size_shift;
    const std::uint64_t number = word_at(thread_, regs.rip - point.vaddr + list.classes_vaddr + rounded) & 0xff;
    return word_at(thread_, register_of(regs, list.lists) + (number << list.list_shift) +
                                static_cast<std::uint64_t>(std::int64_t{list.head}));
  }

  /// The open call that has its block made by the one with this slot.
  const Open* outer_of(std::uint64_t slot) const {
    const auto outer = std::find_if(open_.begin(), open_.end(), [&](const Open& open) {
      return open.inner && open.slot == slot + open.inner->words * 8 && word_at(thread_, slot) == open.inner_return;
    });
    return outer == open_.end() ? nullptr : &*outer;
  }

  bool hit(const AllocatorFunction& function, const YieldPoint& point, const user_regs_struct& regs) {
    if (point.condition && hawk_condition_holds(regs.eflags, *point.condition) == 0) return false;
    std::uint64_t slot = regs.rsp + point.slot_words * 8;
    if (point.called_by && word_at(thread_, slot) != regs.rip - point.vaddr + point.called_by->return_vaddr)
      return false;
    if (point.called_by) slot += point.called_by->words * 8;
    const std::uint64_t size = value(point.size, regs) * value(point.size_factor, regs);
    const std::string where = fmt::format("+{:#x} of {}", point.file_offset - function.entry_offset, name_of(function));
    if (is_tail_call(slot)) return true;
    const Open* const outer = outer_of(slot);
    if (outer != nullptr) slot = outer->slot;
    // Of the call that is open more is known.
    if (outer != nullptr && (point.kind == PointKind::kSize || point.kind == PointKind::kForward)) return true;
    const std::uint64_t listed = point.ahead ? first_of(*point.ahead, point, size, regs) : 0;
    const PointKind kind = point.kind != PointKind::kYieldAhead ? point.kind
                           : listed != 0                        ? PointKind::kYield
                                                                : PointKind::kSize;
    switch (kind) {
      case PointKind::kYield:
        yield(point.ahead ? listed : value(point.result, regs), size, slot, where);
        return true;
      case PointKind::kSize:
      case PointKind::kReturnProbe:
        close(slot);
        open_.push_back({.function = &function,
                         .slot = slot,
                         .return_address = word_at(thread_, slot),
                         .size_bytes = size,
                         .by_return_probe = point.kind == PointKind::kReturnProbe,
                         .inner = point.inner,
                         .inner_return = point.inner ? regs.rip - point.vaddr + point.inner->return_vaddr : 0});
        return true;
      case PointKind::kForward:
        close(slot);
        return true;
      case PointKind::kYieldAfterSize:
      case PointKind::kYieldAhead:
        break;
    }
    const auto open = std::find_if(open_.begin(), open_.end(), [&](const Open& each) {
      return each.slot == slot && each.return_address == word_at(thread_, slot) && !each.by_return_probe;
    });
    if (open == open_.end()) return true;
    const Open call = *open;
    const std::uint64_t result = value(point.result, regs);
    yield(call.inner ? result : result_of(call, result), call.size_bytes, slot, where);
    return true;
  }

  const pid_t thread_;
  const MappedCode& code_;
  const std::uint64_t size_bytes_;
  Stepped& shown_;
  std::vector<Open> open_;
  std::vector<Seen> seen_;
};

class Stepper {
 public:
  Stepper(pid_t process, const std::string& path, const AllocatorFile& allocator, const StepOptions& options,
          Stepped& shown)
      : process_(process), path_(path), allocator_(allocator), options_(options), shown_(shown) {}

  void run() {
    while (!shown_.has_ended && shown_.steps < options_.most_steps) {
      int status = 0;
      const pid_t thread = ::waitpid(-1, &status, __WALL);
      if (thread < 0 || (thread == process_ && !WIFSTOPPED(status))) return;
      if (WIFSTOPPED(status)) stopped(thread, status);
    }
  }

 private:
  void stopped(pid_t thread, int status) {
    const int signal = WSTOPSIG(status);
    if (signal != SIGTRAP || status >> 16 != 0) {
      // SIGSTOP is how a new thread begins.
      resume(thread, signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
      return;
    }
    siginfo_t info = {};
    ::ptrace(PTRACE_GETSIGINFO, thread, nullptr, &info);
    trapped(thread, info.si_code == SI_KERNEL);
    resume(thread, 0);
  }

  void trapped(pid_t thread, bool is_breakpoint) {
    const auto call = calls_.find(thread);
    if (!is_breakpoint) ++shown_.steps;
    auto rip = static_cast<std::uint64_t>(::ptrace(PTRACE_PEEKUSER, thread, offsetof(user_regs_struct, rip), nullptr));
    if (!is_breakpoint && std::exchange(stepped_to_[thread], rip) == rip) rip = finish_string(thread);
    if (!is_breakpoint) rip = strings_.run(thread, rip);
    if (!is_breakpoint && !(call != calls_.end() && call->second.wants(rip))) return;
    user_regs_struct regs = {};
    ::ptrace(PTRACE_GETREGS, thread, nullptr, &regs);
    if (is_breakpoint && call == calls_.end()) {
      begin(thread, regs);
    } else if (is_breakpoint) {
      call->second.end(regs.rdi, regs.rsi != 0);
      calls_.erase(call);
    } else {
      call->second.at(regs);
    }
  }

  void begin(pid_t thread, const user_regs_struct& regs) {
    if (regs.rax == kStringFunctions) strings_ = {.set = regs.rdi, .copy = regs.rsi, .move = regs.rdx};
    if (regs.rax != kBegin) return;
    if (regs.rsi == kLast) {
      shown_.has_ended = true;
      return;
    }
    if (!code_ || !code_->is_mapped()) {
      code_.emplace(process_, path_, allocator_);
      for (const CodeChange& change : options_.changes)
        change_code(thread, code_->address_of(change.file_offset), change.bytes);
    }
    calls_.emplace(std::piecewise_construct, std::tuple(thread),
                   std::tuple(thread, std::cref(*code_), regs.rdi, std::ref(shown_)));
  }

  void resume(pid_t thread, int signal) {
    if (shown_.has_ended) return;
    ::ptrace(calls_.contains(thread) ? PTRACE_SINGLESTEP : PTRACE_CONT, thread, nullptr, signal);
  }

  const pid_t process_;
  const std::string path_;
  const AllocatorFile& allocator_;
  const StepOptions& options_;
  Stepped& shown_;
  std::optional<MappedCode> code_;
  std::map<pid_t, Call> calls_;
  std::map<pid_t, std::uint64_t> stepped_to_;
  StringFunctions strings_;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  const pid_t process = ::fork();
  if (process != 0) return process;
  // Allocators complain when they run out of memory, which they are made to.
  ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
  ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  ::execve(arguments[0], arguments.data(), variables.data());
  ::_exit(127);
}

}  // namespace

Stepped step_through(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                     const std::string& path, const AllocatorFile& allocator, const StepOptions& options) {
  Stepped shown;
  const pid_t process = start(command, environment);
  int status = 0;
  if (::waitpid(process, &status, 0) != process || !WIFSTOPPED(status)) return shown;
  ::ptrace(PTRACE_SETOPTIONS, process, nullptr, PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
  ::ptrace(PTRACE_CONT, process, nullptr, 0);
  Stepper(process, path, allocator, options, shown).run();
  ::kill(process, SIGKILL);
  while (::waitpid(-1, &status, __WALL) > 0) {
  }
  return shown;
}

}  // namespace hawk::testing

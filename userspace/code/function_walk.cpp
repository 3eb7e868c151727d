#include "userspace/code/function_walk.h"

#include <fmt/core.h>

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "userspace/code/arch/x86_64/return_thunk.h"

namespace hawk {
namespace {

/// A worklist over instructions. An instruction is visited again when less is known about its stack than before, which
/// can happen only a handful of times, so that the walk ends.
class Walker {
 public:
  Walker(BranchTargets& resolver, FunctionExtent function, const WalkOptions& options)
      : resolver_(resolver), function_(function), options_(options) {}

  FunctionWalk run() {
    reach(function_.vaddr, StackState());
    while (!pending_.empty()) {
      const std::uint64_t vaddr = pending_.front();
      pending_.pop_front();
      visit(vaddr);
    }
    FunctionWalk walk;
    walk.branch_targets.assign(branch_targets_.begin(), branch_targets_.end());
    walk.returns.assign(returns_.begin(), returns_.end());
    for (std::pair<const std::uint64_t, CallSite>& call : calls_) walk.calls.push_back(std::move(call.second));
    walk.ended_paths = ended_paths_.size();
    if (options_.record_steps) {
      for (const auto& [vaddr, state] : states_) walk.steps[vaddr].before = state;
      for (const auto& [from, to] : edges_) walk.steps[from].successors.push_back(to);
    }
    walk.incomplete = incomplete_;
    return walk;
  }

 private:
  void give_up(std::string reason) {
    if (incomplete_.empty()) incomplete_ = std::move(reason);
  }

  void reach(std::uint64_t vaddr, const StackState& state) {
    if (options_.record_steps && visited_) edges_.emplace(*visited_, vaddr);
    const auto known = states_.find(vaddr);
    if (known == states_.end()) {
      if (states_.size() >= options_.max_instructions) return give_up("its code is too long to be followed");
      states_.emplace(vaddr, state);
      pending_.push_back(vaddr);
      return;
    }
    const StackState merged = merge(known->second, state);
    if (merged == known->second) return;
    known->second = merged;
    pending_.push_back(vaddr);
  }

  void visit(std::uint64_t vaddr) {
    const StackState before = states_.at(vaddr);
    visited_ = vaddr;
    const std::optional<Instruction> instruction = decode_at(resolver_.image(), vaddr);
    if (!instruction) return give_up("its code could not be decoded");
    const StackState state = after(*instruction, before);
    switch (instruction->flow) {
      case Flow::kNext:
        return reach(instruction->next_vaddr(), state);
      case Flow::kJump:
        return jump(*instruction, resolver_.resolve(*instruction->target), state);
      case Flow::kBranch:
        return branch(*instruction, before, state);
      case Flow::kCall:
        return call(*instruction, resolver_.resolve(*instruction->target), before, state);
      case Flow::kIndirectCall:
        return call(*instruction, slot_target(*instruction), before, state);
      case Flow::kIndirectJump:
        return jump(*instruction, slot_target(*instruction), state);
      case Flow::kReturn:
        if (before.rsp.value_or(0) != 0) return give_up("it returns to an address that it has put on the stack");
        returns_.insert(vaddr);
        return;
      case Flow::kFar:
        return give_up("it goes where cannot be followed");
      case Flow::kEnd:
        return;
    }
  }

  bool is_noreturn(const CodeTarget& target, const StackState& state) {
    return resolver_.is_noreturn(target) || options_.never_returns(target, state);
  }

  CodeTarget slot_target(const Instruction& instruction) {
    return instruction.got_slot ? resolver_.resolve_slot(*instruction.got_slot) : CodeTarget();
  }

  void jump(const Instruction& instruction, const CodeTarget& target, const StackState& state) {
    if (options_.ends_path(target)) {
      ended_paths_.insert(instruction.vaddr);
    } else if (is_noreturn(target, state)) {
      return;
    } else if (target.vaddr) {
      branch_targets_.insert(*target.vaddr);
      reach(*target.vaddr, state);
    } else if (target.name.empty()) {
      give_up("it jumps to an address that is known only at run time");
    } else {
      give_up(fmt::format("it continues in {}, which is in another file", target.name));
    }
  }

  void branch(const Instruction& instruction, const StackState& before, const StackState& state) {
    const ZydisMnemonic mnemonic = instruction.decoded.mnemonic;
    const bool judges_argument = options_.skip_null_argument && before.argument_tested;
    if (!(judges_argument && mnemonic == ZYDIS_MNEMONIC_JZ)) {
      jump(instruction, resolver_.resolve(*instruction.target), state);
    }
    if (!(judges_argument && mnemonic == ZYDIS_MNEMONIC_JNZ)) reach(instruction.next_vaddr(), state);
  }

  void call(const Instruction& instruction, const CodeTarget& target, const StackState& before,
            const StackState& state) {
    const std::uint64_t return_vaddr = instruction.next_vaddr();
    calls_[return_vaddr] = CallSite{return_vaddr, target, state};
    if (options_.follow_exceptions) handle_exception(return_vaddr, state);
    if (options_.ends_path(target)) {
      ended_paths_.insert(instruction.vaddr);
      if (options_.calls_end_paths) return;
    }
    if (target.vaddr && changes_return(resolver_.image(), *target.vaddr))
      return give_up("it calls code that goes on elsewhere than behind the call");
    // A call that is the function's last instruction does not return either.
    const bool is_last = function_.size_bytes != 0 && return_vaddr == function_.vaddr + function_.size_bytes;
    if (!is_last && !is_noreturn(target, before)) reach(return_vaddr, state);
  }

  /// The unwinder restores what a call preserves.
  void handle_exception(std::uint64_t return_vaddr, const StackState& state) {
    const ExceptionTable::Way way = resolver_.exceptions().way_of(return_vaddr);
    if (way.goes == ExceptionTable::Goes::kUnknown) return give_up("the handlers of its exceptions are not known");
    if (way.goes == ExceptionTable::Goes::kTo) reach(way.vaddr, state);
  }

  BranchTargets& resolver_;
  const FunctionExtent function_;
  const WalkOptions& options_;
  std::unordered_map<std::uint64_t, StackState> states_;
  std::deque<std::uint64_t> pending_;
  std::optional<std::uint64_t> visited_;
  std::set<std::pair<std::uint64_t, std::uint64_t>> edges_;
  std::set<std::uint64_t> branch_targets_;
  std::set<std::uint64_t> returns_;
  std::set<std::uint64_t> ended_paths_;
  std::map<std::uint64_t, CallSite> calls_;
  std::string incomplete_;
};

}  // namespace

FunctionWalk walk_function(BranchTargets& resolver, FunctionExtent function, const WalkOptions& options) {
  return Walker(resolver, function, options).run();
}

}  // namespace hawk

#include "userspace/code/call_effects.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "bpf/kinds.h"
#include "userspace/code/arch/x86_64/constants.h"
#include "userspace/code/arch/x86_64/instruction.h"
#include "userspace/code/arch/x86_64/return_thunk.h"

namespace hawk {
namespace {

/// Calls within calls that are followed. Deeper ones are taken for the worst.
constexpr int kMaxDepth = 12;
/// Of one function.
constexpr std::size_t kMaxInstructions = 4096;
/// Of all functions of a file together: what is not known by then is taken for the worst.
constexpr std::size_t kMaxInstructionsInAll = 60000;

/// `__tunable_get_val` calls functions of libc's own, which store a number each.
constexpr auto kAllocatingNothing = std::to_array<std::string_view>({
    "__clock_gettime",
    "__errno_location",
    "__tunable_get_val",
    "__tunable_is_initialized",
    "clock_gettime",
    "madvise",
    "memcpy",
    "memmove",
    "memset",
    "mprotect",
    "munmap",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_self",
    "sched_yield",
    "strcmp",
    "strlen",
});
/// Which allocate nothing either.
constexpr auto kMapping = std::to_array<std::string_view>({
    "mmap",
    "mmap64",
    "mremap",
    "sbrk",
    "syscall",
});

}  // namespace

bool CallEffects::is_one_of(const CodeTarget& target, NamedFunctions& functions) {
  if (std::binary_search(functions.names.begin(), functions.names.end(), std::string_view(target.name))) return true;
  if (!target.vaddr) return false;
  if (!functions.vaddrs) {
    functions.vaddrs.emplace();
    for (const ElfFunction& function : resolver_.image().functions(NameSet(functions.names))) {
      if (!function.is_resolver) functions.vaddrs->insert(function.vaddr);
    }
  }
  return functions.vaddrs->contains(*target.vaddr);
}

bool CallEffects::allocates_nothing(const CodeTarget& target) {
  return is_one_of(target, allocating_nothing_) || (!mappings_count_ && is_one_of(target, mapping_));
}

CallEffects::CallEffects(BranchTargets& resolver, std::function<bool(std::uint64_t)> is_probed, bool mappings_count)
    : resolver_(resolver),
      is_probed_(std::move(is_probed)),
      allocating_nothing_{.names = kAllocatingNothing, .vaddrs = {}},
      mapping_{.names = kMapping, .vaddrs = {}},
      mappings_count_(mappings_count),
      instructions_left_(kMaxInstructionsInAll) {}

bool CallEffects::never_returns(const CodeTarget& target, std::optional<std::uint32_t> first_argument) {
  return !exits_of(target, first_argument).by_return;
}

bool CallEffects::ends_program(const CodeTarget& target, std::optional<std::uint32_t> first_argument) {
  const Exits exits = exits_of(target, first_argument);
  return !exits.by_return && !exits.by_throw;
}

CallEffects::Exits CallEffects::exits_of(const CodeTarget& target, std::optional<std::uint32_t> first_argument) {
  if (resolver_.is_noreturn(target)) return {.by_return = false, .by_throw = !resolver_.ends_program(target)};
  // Another file may define the name too.
  if (!target.vaddr || !target.name.empty()) return {};
  const Exits always = exits_of(*target.vaddr, std::nullopt);
  return always.by_return && first_argument ? exits_of(*target.vaddr, first_argument) : always;
}

bool CallEffects::may_allocate(const CodeTarget& target) {
  return any_called(
      target, [this](const CodeTarget& called) { return never_returns(called); },
      [this](const CodeTarget& called) { return is_probed_(*called.vaddr) || is_one_of(called, mapping_); });
}

bool CallEffects::may_throw(const CodeTarget& target) {
  return any_called(
      target, [this](const CodeTarget& called) { return ends_program(called); },
      [this](const CodeTarget& called) { return never_returns(called) || facts_of(*called.vaddr).may_throw; });
}

bool CallEffects::any_called(const CodeTarget& target, const std::function<bool(const CodeTarget&)>& matters_not,
                             const std::function<bool(const CodeTarget&)>& matters) {
  std::set<std::uint64_t> seen;
  std::vector<CodeTarget> pending = {target};
  while (!pending.empty()) {
    const CodeTarget called = pending.back();
    pending.pop_back();
    if (matters_not(called) || allocates_nothing(called)) continue;
    if (!called.vaddr || matters(called)) return true;
    if (!seen.insert(*called.vaddr).second) continue;
    const Facts& facts = facts_of(*called.vaddr);
    if (!facts.is_known) return true;
    pending.insert(pending.end(), facts.continued.begin(), facts.continued.end());
  }
  return false;
}

struct CallEffects::Look {
  std::function<bool()> at_return = [] { return true; };
  /// Of calls that return, and of jumps whose target this file does not show.
  std::function<bool(const CodeTarget&)> at_target = [](const CodeTarget&) { return true; };
  /// Of instructions at which a program ends.
  std::function<void()> at_stop = [] {};
  /// Of calls and jumps that do not return.
  std::function<void(const CodeTarget&, std::optional<std::uint32_t>)> at_end = [](const CodeTarget&,
                                                                                   std::optional<std::uint32_t>) {};
};

CallEffects::Exits CallEffects::exits_of(std::uint64_t vaddr, std::optional<std::uint32_t> first_argument) {
  // While it is looked into it is taken to be left.
  const auto [known, is_new] = exits_.emplace(std::pair(vaddr, first_argument), Exits());
  if (!is_new) return known->second;
  bool may_throw = false, has_end = false;  // an endless loop alone is left by what is not seen: as in a thunk
  Look look;
  look.at_return = [] { return false; };
  look.at_stop = [&] { has_end = true; };
  look.at_end = [&](const CodeTarget& target, std::optional<std::uint32_t> first) {
    has_end = true;
    may_throw = may_throw || !ends_program(target, first);
  };
  ++depth_;
  const bool is_certain = depth_ <= kMaxDepth && follow(vaddr, first_argument, look) && has_end;
  --depth_;
  return known->second = Exits{.by_return = !is_certain, .by_throw = !is_certain || may_throw};
}

const CallEffects::Facts& CallEffects::facts_of(std::uint64_t vaddr) {
  const auto [known, is_new] = facts_.emplace(vaddr, Facts());
  if (!is_new) return known->second;
  Look look;
  look.at_target = [&facts = known->second](const CodeTarget& target) {
    facts.continued.push_back(target);
    return true;
  };
  look.at_end = [&, &facts = known->second](const CodeTarget& target, std::optional<std::uint32_t> first) {
    facts.may_throw = facts.may_throw || !ends_program(target, first);
  };
  known->second.is_known = follow(vaddr, std::nullopt, look);
  return known->second;
}

/// One function, followed with what is known of its registers.
class CallEffects::Follower {
 public:
  Follower(CallEffects& effects, const Look& look) : effects_(effects), resolver_(effects.resolver_), look_(look) {}

  bool run(std::uint64_t start, const Constants& at_start) {
    reach(start, at_start);
    while (!pending_.empty()) {
      const std::uint64_t vaddr = pending_.back();
      pending_.pop_back();
      const std::optional<Instruction> instruction = decode_at(resolver_.image(), vaddr);
      if (!instruction || effects_.instructions_left_ == 0 || states_.size() > kMaxInstructions) return false;
      --effects_.instructions_left_;
      if (!visit(*instruction)) return false;
    }
    return true;
  }

 private:
  void reach(std::uint64_t vaddr, const Constants& constants) {
    const auto [known, is_new] = states_.emplace(vaddr, constants);
    if (!is_new) {
      const Constants merged = merge(known->second, constants);
      if (merged == known->second) return;
      known->second = merged;
    }
    pending_.push_back(vaddr);
  }

  /// It leads to what was chosen when the program started: one of a library's string functions, which allocate nothing,
  /// unless it is the allocator's own.
  bool is_chosen(const Instruction& instruction) {
    if (!instruction.got_slot) return false;
    const std::optional<std::uint64_t> chooser = resolver_.image().chooser_of(*instruction.got_slot);
    return chooser && !effects_.is_probed_(*chooser);
  }

  CodeTarget target_of(const Instruction& instruction) {
    if (instruction.target) return resolver_.resolve(*instruction.target);
    return instruction.got_slot ? resolver_.resolve_slot(*instruction.got_slot) : CodeTarget();
  }

  bool visit(const Instruction& instruction) {
    const Constants before = states_.at(instruction.vaddr);
    const Constants state = after(instruction, before);
    switch (instruction.flow) {
      case Flow::kNext:
        reach(instruction.next_vaddr(), state);
        return true;
      case Flow::kBranch: {
        const std::optional<bool> taken = is_taken(instruction, before);
        if (taken != true) reach(instruction.next_vaddr(), state);
        return taken == false || jump(target_of(instruction), state);
      }
      case Flow::kJump:
      case Flow::kIndirectJump:
        return is_chosen(instruction) ? look_.at_return() : jump(target_of(instruction), state);
      case Flow::kCall:
      case Flow::kIndirectCall:
        if (!handle_exception(instruction.next_vaddr(), state)) return false;
        if (is_chosen(instruction)) {
          reach(instruction.next_vaddr(), state);
          return true;
        }
        return call(instruction, before, state);
      case Flow::kReturn:
        return look_.at_return();
      case Flow::kFar:
        return false;
      case Flow::kEnd:
        look_.at_stop();
        return true;
    }
    return false;
  }

  bool jump(const CodeTarget& target, const Constants& state) {
    if (resolver_.is_noreturn(target)) {
      look_.at_end(target, std::nullopt);
      return true;
    }
    // Code that is not followed returns in place of this.
    const bool is_followed = target.vaddr && target.name.empty() && !effects_.is_probed_(*target.vaddr);
    if (!is_followed) return look_.at_target(target) && look_.at_return();
    reach(*target.vaddr, state);
    return true;
  }

  bool handle_exception(std::uint64_t return_vaddr, const Constants& state) {
    const ExceptionTable::Way way = resolver_.exceptions().way_of(return_vaddr);
    if (way.goes == ExceptionTable::Goes::kTo) reach(way.vaddr, state);
    return way.goes != ExceptionTable::Goes::kUnknown;
  }

  bool call(const Instruction& instruction, const Constants& before, const Constants& state) {
    const CodeTarget target = target_of(instruction);
    if (target.vaddr && changes_return(resolver_.image(), *target.vaddr)) return false;
    std::optional<std::uint32_t> first;
    if (before.registers[HAWK_RDI]) first = static_cast<std::uint32_t>(*before.registers[HAWK_RDI]);
    if (effects_.never_returns(target, first)) {
      look_.at_end(target, first);
      return true;
    }
    reach(instruction.next_vaddr(), state);
    return look_.at_target(target);
  }

  CallEffects& effects_;
  BranchTargets& resolver_;
  const Look& look_;
  std::map<std::uint64_t, Constants> states_;
  std::vector<std::uint64_t> pending_;
};

bool CallEffects::follow(std::uint64_t start, std::optional<std::uint32_t> first_argument, const Look& look) {
  Constants at_start;
  if (first_argument) at_start.registers[HAWK_RDI] = *first_argument;
  return Follower(*this, look).run(start, at_start);
}

}  // namespace hawk

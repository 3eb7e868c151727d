#pragma once

/// Where one trap tells all of an allocating call: its size and what it returns.
///
/// A plan is a set of points for one function. What is claimed of it, for every call that enters the function at its
/// first instruction, and is proved over the machine code:
///
/// 1. On every path from the entry to a `ret` with which the function returns, tail jumps included, the point's
/// condition
///    holds at exactly one final point (kYield, kYieldAfterSize, kForward, kReturnProbe), once. The only exception: a
///    path that returns the constant 0, and has not passed a kSize point, may have none.
/// 2. Behind kYield and kYieldAfterSize nothing is left to happen but the return: there is no call, no loop and nothing
///    that could be left otherwise; `result` is what the function returns; what is on the way moves rsp by known
///    amounts.
/// 3. At kYield `size` is what the program asked for (times `size_factor`, if there is one): the argument of the
///    function, unchanged since the entry.
/// 4. At kSize the same is true, and nothing that could allocate or free has been called by then. On each path to a
///    kYieldAfterSize there is at least one kSize before it, at the same slot. There may be several: they tell the
///    same. With `opens_at_entry` the function's entry probe (AllocatorFunction::probe_offset) is that kSize, for all
///    paths.
/// 5. Before a kYield, if there has been no kSize, nothing has been called in which a probed function could be called,
///    signal handlers aside.
/// 6. rsp + 8 * `slot_words` is the address of the return address; the caller's rbp is where `saved_rbp_words` tells.
/// 7. A kYield is in code that belongs to the function alone: no other code of the file jumps or calls into the
/// function
///    but to its first instruction. A kYieldAfterSize may be in code that others run through, at any depth: it counts
///    only where the newest kSize of the thread is at the same slot, with the same return address there.
///
/// What programs may rely on, then:
///
/// - kYield: book `result` with `size`, unless `result` is 0. Whatever is remembered for this slot is of a call that
/// was
///   left. If another call of the thread is open, at another slot, this one is inside it or from a handler, as ever.
/// - kSize: the call is open from here on: remember slot, return address and `size`. A call that is open at the same
/// slot
///   is the same one, if it is of the same function; else it was left.
/// - kYieldAfterSize: the call that is open at this slot returns `result`. None is: begun before the trace, or no call
/// of
///   a probed function; ignore it.
/// - kForward: the call goes on as that of another function, with the same slot, size and result, whose points or
/// probes
///   see it. Forget the one that is open at this slot, and put back what it had in hand.
/// - kReturnProbe: rsp points to the return address here. An entry probe with a return probe in this place sees the
/// rest
///   of the call as one at the entry would. `size` is known, and no kSize has been passed.
/// - Where `result` is kNowhere the kind is one that tells no result.
///
/// What is trusted: the ABI (calls preserve rbx, rbp, r12 to r15 and rsp, and do not write to their caller's frame but
/// where its address was given to them); that a noreturn function does not return, and others return once or not at
/// all; that accesses to memory behind a point do not fault; that code is entered at function symbols' addresses and by
/// direct jumps only; that the file has no abort handlers of restartable sequences (it is searched for their
/// signature); that memory is not written through pointers into a frame whose address the function has not taken.
///
/// What cannot be followed has no plan: `fallback` says why, and the entry and return probes remain.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hawk {

/// The furthest that a word on the stack can lie from rsp, in words.
constexpr std::uint32_t kMaxPointWords = 4095;

/// See above.
enum class PointKind : std::uint8_t {
  kYield,
  kSize,
  kYieldAfterSize,
  kForward,
  kReturnProbe,
};

/// Where a value is while the instruction of a point has not run yet.
struct ValuePlace {
  enum class Kind : std::uint8_t {
    kNowhere,   ///< the point does not tell it
    kRegister,  ///< `index`: the number that instructions encode the register with; all 64 bits
    kStack,     ///< `index`: words from rsp up
    kZero,      ///< it is 0
  };
  Kind kind = Kind::kNowhere;
  std::uint32_t index = 0;
  bool operator==(const ValuePlace&) const = default;
};

/// One instruction to probe.
struct YieldPoint {
  std::uint64_t vaddr = 0;
  std::uint64_t file_offset = 0;
  PointKind kind = PointKind::kYield;
  bool single_stepped = false;  ///< a `ret`; all others are emulated by the kernel
  /// It counts only if this condition holds: the low four bits of the opcode of a branch that would be taken then.
  std::optional<std::uint8_t> condition;
  ValuePlace result;
  ValuePlace size;
  ValuePlace size_factor;
  std::uint32_t slot_words = 0;  ///< words from rsp up to the return address
  /// Words from rsp up to where the caller's rbp has been saved; nullopt: it is in rbp.
  std::optional<std::uint32_t> saved_rbp_words;
  bool operator==(const YieldPoint&) const = default;
};

struct YieldPlan {
  std::vector<YieldPoint> points;  ///< sorted by vaddr, at most one at each; empty: there is no plan
  /// The function's entry probe is needed as well: it is the kSize of every call.
  bool opens_at_entry = false;
  std::string fallback;  ///< why there is no plan, for the report; empty: there is one
  bool operator==(const YieldPlan&) const = default;
};

}  // namespace hawk

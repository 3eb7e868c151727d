#pragma once

/// Where one trap shows all of an allocating call: its size and what it returns.
///
/// A plan is a set of points for one function. What is claimed of it, for every call that enters the function at its
/// first instruction, and is proved over the machine code:
///
/// 1. Every path from the entry to a `ret` with which the function returns, tail jumps included, runs through exactly
///    one final point (kYield, kYieldAhead, kYieldAfterSize, kForward, kReturnProbe) whose condition holds, once. A
///    path that returns the constant 0 and has not passed a kSize may have none; so may one that goes on as another
///    function's call. Paths lead over calls, and from calls to where their exceptions are handled.
/// 2. Behind kYield and kYieldAfterSize nothing is left to happen but the return, or the program's end: there is no
///    call but of memset, memcpy and memmove, no loop and nothing that could be left otherwise; `result` is what the
///    function returns; rsp moves by known amounts. Paths that go elsewhere lead to a call or jump from which, over all
///    calls behind it, every path ends in abort or the like; none returns or throws. So glibc's malloc is seen before
///    it looks at the chunk that it has cut, and a call that ends the program there has been counted.
/// 3. At kYield `size` (times `size_factor`, where there is one) is what the program has asked for: an argument of the
///    function, unchanged since the entry, or the product of two.
/// 4. At kSize the same holds, and unless there was another kSize before, nothing has been called that could allocate
/// or
///    free. On every path to a kYieldAfterSize there is a kSize before it. There may be several, with the same slot and
///    size. Where `opens_at_entry` is set the function's entry probe (AllocatorFunction::probe_offset) is the kSize of
///    every call.
/// 5. Before a kYield that no kSize precedes, nothing has been called in which a probed function might be called.
/// 6. rsp + 8 * `slot_words` is the address of the return address; the caller's rbp is where `saved_rbp_words` says.
/// 7. A kYield is in code of the function alone: the file has no direct jump or call into the function but to its first
///    instruction. A kYieldAfterSize may be in code that others run through too, at any depth.
/// 8. A kSize with `inner` is in a function that stores its block where the program says. Every path from it comes by a
///    kYieldAfterSize of the function's own, with a result of null, or calls another function, once, which returns what
///    will be stored; of that one the plan has all points as well, with slots of its own frame. Where that one is seen
///    itself, or goes on (kForward) in one that is, a plan of its own has the points (YieldPlan::relies_on), which has
///    no return probes and goes on in no further one. As null may be returned unseen there (1.), the function then has
///    another kYieldAfterSize of its own behind the call, for null alone. The call may have been closed by then.
/// 9. A kYield with `called_by` is in another function, which the planned one calls there to have its block made, and
///    which others may call too. Every path through that one by which a block is returned runs through exactly one such
///    point, as 1. to 3. and 5. to 7. say of it, with its own frame. It is asked for what the program asks for. When it
///    returns a block the planned function returns that one: every path behind the call leads to a `ret`, over no loop
///    and no call in which a probed function might be called. When it returns null, the planned function returns null
///    or calls it once more in the same way. No path behind such a call comes by a point of the planned function's own.
///
/// 10. A kYieldAhead is at a branch of the function's own, of which 3. and 5. to 7. hold as of a kYield. The way on
///    which it counts leads past no point and over no other branch to one that tests a register for zero, and on it is
///    nothing but computation and loads: no store, no call, no locked instruction; rsp stays. It is short
///    (HAWK_LONGEST_WAY). `ahead` says where that register is loaded from, by the size and by registers as they are at
///    the point. If it is not zero, it is what the function returns, as 2. says of that branch; and the first store
///    behind it is to where it was loaded from. If it is zero, the point is a kSize. All ways to the branch are such
///    ones.
///
/// What programs may rely on, then:
///
/// - kYield: where it has `called_by`, and the word at its slot is not that call's return address, ignore it. Otherwise
///   a call returns `result` for `size` bytes, if that is not null. One that is open at the same slot is the same call,
///   or was left: it is closed either way. One that is open at another slot is what this one may be nested in.
/// - kSize: a call is open from here on, with this slot, its return address and `size`. If one of the same function is
///   open at the slot already, it is the same, or was left: which of both makes no difference. Of another function:
///   left.
/// - kYieldAfterSize: the call that is open at this slot, with the same return address there, returns `result`. If none
///   is, the call began before the trace, or is none of a probed function: ignore it.
/// - A point whose slot is that of an open call's inner one, with the return address of that there, is of the open
///   call: it returns what the inner one returns.
/// - kYieldAhead: if the word that `ahead` names is not null, it is what the call returns as soon as its thread goes
///   on, and the point is a kYield; otherwise it is a kSize. So it is unless a signal's handler runs first that
///   allocates, frees, or does not return.
/// - kForward: the call goes on as one of another function, with the same slot, block and size, which is seen by its
///   own points or probes. The one that is open at this slot is undone: nothing has happened yet.
/// - kReturnProbe: rsp is the slot, and no kSize precedes. An entry probe and a return probe in this place see the call
///   as they would at the entry.
///
/// What is trusted:
///
/// - the ABI: calls preserve rbx, rbp, r12 to r15 and rsp, and write to no word of a frame of which no address is
///   taken, but for arguments that they are passed there; and code that reads a word after a call, and has not written
///   to it since, has not passed it as one;
/// - that code is entered at addresses of functions, of which no public symbol names one in the middle of a function
///   that has a plan; by direct jumps; and by the unwinder where its tables have handlers, which exceptions reach from
///   calls alone; and that what these tables call a function is one instruction after another;
/// - that a page is larger than what malloc aligns its blocks to, so that pvalloc does not go on in malloc, with whole
///   pages for a size;
/// - that memset, memcpy and memmove, by these names, return their first argument and do nothing else that matters;
/// - that what ends the program by hlt or ud2 ends it; a handler of int3 or `int n` returns;
/// - that a function returns by `ret` to its own return address: one with a `ret` anywhere else, or with a call of code
///   that changes its return address (return_thunk.h), has no plan;
/// - that abort ends the program: who leaves its signal's handler by longjmp goes on without a block that was counted;
/// - that no debugger has a thread run other code while it stops between a kYieldAhead and where the block is taken;
/// - that a call returns once or not at all, and an access to memory behind a point does not fault;
/// - that what the file defines and calls by name is its own: if another file takes its place, a call stays open, which
///   is seen;
/// - that what a function loads, and writes to with no lock taken and nothing else that threads agree by in between, is
///   its thread's own: another one's change would be lost. And that what it looks up by the size has been there since
///   the allocator began;
/// - that there are no restartable sequences but with the signature that is searched for.
///
/// What cannot be followed has no plan: `fallback` says why, and the entry and return probes remain.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hawk {

/// Whether functions get plans, which takes some ten milliseconds.
enum class Plans : std::uint8_t {
  kNone,
  kMade,
  /// So that a call is open when it maps memory: what may do that counts as what might allocate (4. and 5.).
  kMadeForMappings,
};

/// The furthest that a word on the stack can lie from rsp, in words.
constexpr std::uint32_t kMaxPointWords = 4095;

/// See above.
enum class PointKind : std::uint8_t {
  kYield,
  kSize,
  kYieldAfterSize,
  kForward,
  kReturnProbe,
  kYieldAhead,
};

/// Where a value is while the instruction of a point has not run yet.
struct Operand {
  enum class Kind : std::uint8_t {
    kNowhere,   ///< not known at the point
    kRegister,  ///< `index`: the number that instructions encode the register with; all 64 bits
    kStack,     ///< `index`: words from rsp up
    kConstant,  ///< it is `index`
  };
  Kind kind = Kind::kNowhere;
  std::uint32_t index = 0;
  bool operator==(const Operand&) const = default;
};

/// The call by which a function has its block made. Words are counted from where something lies on the stack up to the
/// function's own return address.
struct InnerCall {
  std::uint32_t words = 0;                       ///< from the call's return address
  std::optional<std::uint32_t> saved_rbp_words;  ///< from where the caller's rbp has been saved; nullopt: it is in rbp
  std::uint64_t return_vaddr = 0;                ///< where the call returns to
  bool operator==(const InnerCall&) const = default;
};

/// Where the first block of a free list stands: one list of several, which its class says, a byte in a table that is
/// looked into by the rounded size. At `lists` + (class << list_shift) + head, with the class at
/// classes_vaddr + (size + size_added, as 32 bits, >> size_shift).
struct FreeList {
  std::uint8_t lists = 0;  ///< register, as it is at the point
  std::uint8_t list_shift = 0;
  std::int32_t head = 0;
  std::uint64_t classes_vaddr = 0;
  std::uint32_t size_added = 0;
  std::uint8_t size_shift = 0;
  bool operator==(const FreeList&) const = default;
};

/// One instruction to probe.
struct YieldPoint {
  std::uint64_t vaddr = 0;
  std::uint64_t file_offset = 0;
  PointKind kind = PointKind::kYield;
  bool single_stepped = false;  ///< a `ret`; all others are emulated by the kernel
  /// It counts only if this condition holds: the low four bits of the opcode of a branch that would be taken then.
  std::optional<std::uint8_t> condition;
  Operand result;
  Operand size;
  Operand size_factor;
  std::uint32_t slot_words = 0;  ///< words from rsp up to the return address
  /// Words from rsp up to where the caller's rbp has been saved; nullopt: it is in rbp.
  std::optional<std::uint32_t> saved_rbp_words;
  std::optional<InnerCall> inner = {};      ///< of a kSize, see above
  std::optional<InnerCall> called_by = {};  ///< of a kYield in a function that the planned one calls
  std::optional<FreeList> ahead = {};       ///< of a kYieldAhead
  bool operator==(const YieldPoint&) const = default;
};

/// Machine code of the file.
struct CodePiece {
  std::uint64_t file_offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const CodePiece&) const = default;
};

struct YieldPlan {
  /// Sorted by vaddr; several at one only if each is for another call (called_by). Empty: there is no plan.
  std::vector<YieldPoint> points;
  /// What has been read for the proof: if a process has other code there, nothing is claimed of it. Without long nops,
  /// which the kernel may replace. Sorted; a piece begins at the function's first instruction.
  std::vector<CodePiece> code = {};
  /// The function's entry probe is needed as well: it is the kSize of every call.
  bool opens_at_entry = false;
  /// Other functions of the file, by the offsets of their entries, without whose plans this one is none.
  std::vector<std::uint64_t> relies_on = {};
  /// The same of those that it goes on in (kForward), and that are given no block where this one is: at an entry probe
  /// the block that this one may have freed would be taken for one that is still live.
  std::vector<std::uint64_t> leaves_block_to = {};
  bool goes_on = false;  ///< some paths go on as another function's call
  std::string fallback;  ///< why there is no plan, for the report; empty: there is one
  bool operator==(const YieldPlan&) const = default;
};

inline YieldPlan no_plan(std::string reason) {
  YieldPlan none;
  none.fallback = std::move(reason);
  return none;
}

}  // namespace hawk

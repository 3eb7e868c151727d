#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "userspace/base/byte_cursor.h"
#include "userspace/unwinding/frame_records.h"
#include "userspace/unwinding/frame_state.h"

namespace hawk {

/// Runs call frame instructions (DWARF 5, 6.4.2) and keeps what they say about the CFA, the return address, the stack
/// pointer and the frame pointer. One program after the other; the memory for remembered states is kept.
class FrameProgram {
 public:
  enum class Stop : std::uint8_t {
    kMoved,    ///< state() held up to location(), where it goes on
    kEnd,      ///< state() holds to the end
    kDamaged,  ///< from location() on nothing can be known: flaw() says why
  };

  /// From `location` on, where `initial` holds, which is also what registers are restored to. `vaddr`: of the first
  /// instruction. `common` and `initial` must live as long as the program runs.
  void begin(const CommonRecord& common, const FrameState& initial, std::span<const std::uint8_t> instructions,
             std::uint64_t vaddr, std::uint64_t location);
  /// Runs up to the next instruction that moves the location.
  Stop run();

  std::uint64_t location() const { return location_; }
  const FrameState& state() const { return state_; }
  Unsupported flaw() const { return flaw_; }

 private:
  using Register = SavedRegister FrameState::*;
  void execute(std::uint8_t code);
  void execute_extended(std::uint8_t code);
  void execute_on_cfa(std::uint8_t code);
  void execute_on_register(std::uint8_t code);
  void move_to(std::uint64_t location);
  void move_by(std::uint64_t units);
  void set(std::uint64_t number, SavedRegister::Rule rule, std::int64_t offset);
  void restore(std::uint64_t number);
  void remember();
  void restore_remembered();
  /// Offsets are counted in units of the data alignment.
  std::int64_t factored(std::uint64_t units) const;
  /// nullptr: not followed.
  Register followed(std::uint64_t number) const;

  const CommonRecord* common_ = nullptr;
  const FrameState* initial_ = nullptr;
  FrameState state_;
  ByteCursor cursor_;
  const std::uint8_t* instructions_ = nullptr;
  std::uint64_t vaddr_ = 0;
  std::uint64_t location_ = 0;
  Unsupported flaw_ = Unsupported::kNothing;
  std::vector<FrameState> remembered_;
};

}  // namespace hawk

#include "userspace/unwinding/frame_program.h"

#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/call_frame_codes.h"
#include "userspace/unwinding/expression_shapes.h"
#include "userspace/unwinding/pointer_encoding.h"

namespace hawk {
namespace {

/// Compilers nest two.
constexpr std::size_t kMaxRemembered = 64;

}  // namespace

void FrameProgram::begin(const CommonRecord& common, const FrameState& initial,
                         std::span<const std::uint8_t> instructions, std::uint64_t vaddr, std::uint64_t location) {
  common_ = &common;
  initial_ = &initial;
  state_ = initial;
  cursor_ = ByteCursor(instructions);
  instructions_ = instructions.data();
  vaddr_ = vaddr;
  location_ = location;
  flaw_ = Unsupported::kNothing;
  remembered_.clear();
}

FrameProgram::Stop FrameProgram::run() {
  const std::uint64_t from = location_;
  while (!cursor_.at_end()) {
    execute(cursor_.byte());
    if (!cursor_.ok() && flaw_ == Unsupported::kNothing) flaw_ = Unsupported::kDamagedInstructions;
    if (flaw_ != Unsupported::kNothing) return Stop::kDamaged;
    if (location_ != from) return Stop::kMoved;
  }
  return Stop::kEnd;
}

void FrameProgram::execute(std::uint8_t code) {
  const auto operand = static_cast<std::uint8_t>(code & ~dwarf::kPrimaryMask);
  switch (code & dwarf::kPrimaryMask) {
    case dwarf::kAdvanceLoc:
      return move_by(operand);
    case dwarf::kOffset:
      return set(operand, SavedRegister::Rule::kAtCfa, factored(cursor_.uleb()));
    case dwarf::kRestore:
      return restore(operand);
    default:
      return execute_extended(code);
  }
}

void FrameProgram::execute_extended(std::uint8_t code) {
  switch (code) {
    case dwarf::kNop:
      return;
    case dwarf::kSetLoc:
      return move_to(read_pointer(cursor_, common_->pointer_encoding,
                                  vaddr_ + static_cast<std::uint64_t>(cursor_.next() - instructions_)));
    case dwarf::kAdvanceLoc1:
      return move_by(cursor_.byte());
    case dwarf::kAdvanceLoc2:
      return move_by(cursor_.number<std::uint16_t>());
    case dwarf::kAdvanceLoc4:
      return move_by(cursor_.number<std::uint32_t>());
    case dwarf::kMipsAdvanceLoc8:
      return move_by(cursor_.number<std::uint64_t>());
    case dwarf::kRememberState:
      return remember();
    case dwarf::kRestoreState:
      return restore_remembered();
    case dwarf::kGnuArgsSize:  // what the caller pops: known from the caller's own rules
      cursor_.uleb();
      return;
    default:
      return execute_on_cfa(code);
  }
}

void FrameProgram::execute_on_cfa(std::uint8_t code) {
  CfaRule& cfa = state_.cfa;
  switch (code) {
    case dwarf::kDefCfa:
    case dwarf::kDefCfaSf:
      cfa = {.kind = CfaRule::Kind::kRegister, .base = cursor_.uleb()};
      cfa.offset = code == dwarf::kDefCfa ? static_cast<std::int64_t>(cursor_.uleb())
                                          : factored(static_cast<std::uint64_t>(cursor_.sleb()));
      return;
    case dwarf::kDefCfaRegister:
      cfa.base = cursor_.uleb();
      break;
    case dwarf::kDefCfaOffset:
      cfa.offset = static_cast<std::int64_t>(cursor_.uleb());
      break;
    case dwarf::kDefCfaOffsetSf:
      cfa.offset = factored(static_cast<std::uint64_t>(cursor_.sleb()));
      break;
    case dwarf::kDefCfaExpression:
      cfa = cfa_by_expression(cursor_.block());
      return;
    default:
      return execute_on_register(code);
  }
  // These change half of a rule, which must be there.
  if (cfa.kind != CfaRule::Kind::kRegister) flaw_ = Unsupported::kDamagedInstructions;
}

void FrameProgram::execute_on_register(std::uint8_t code) {
  using Rule = SavedRegister::Rule;
  if (code < dwarf::kOffsetExtended || (code > dwarf::kValExpression && code != dwarf::kGnuNegativeOffsetExtended)) {
    flaw_ = Unsupported::kUnknownInstruction;
    return;
  }
  const std::uint64_t number = cursor_.uleb();
  switch (code) {
    case dwarf::kOffsetExtended:
      return set(number, Rule::kAtCfa, factored(cursor_.uleb()));
    case dwarf::kOffsetExtendedSf:
      return set(number, Rule::kAtCfa, factored(static_cast<std::uint64_t>(cursor_.sleb())));
    case dwarf::kGnuNegativeOffsetExtended:
      return set(number, Rule::kAtCfa, factored(0 - cursor_.uleb()));
    case dwarf::kValOffset:
      return set(number, Rule::kIsCfa, factored(cursor_.uleb()));
    case dwarf::kValOffsetSf:
      return set(number, Rule::kIsCfa, factored(static_cast<std::uint64_t>(cursor_.sleb())));
    case dwarf::kRestoreExtended:
      return restore(number);
    case dwarf::kUndefined:
      return set(number, Rule::kUndefined, 0);
    case dwarf::kSameValue:
      return set(number, Rule::kUnchanged, 0);
    case dwarf::kRegister:
      cursor_.uleb();
      return set(number, Rule::kRegister, 0);
    case dwarf::kExpression: {
      const std::span<const std::uint8_t> expression = cursor_.block();
      if (const Register saved = followed(number)) state_.*saved = rule_by_expression(expression);
      return;
    }
    case dwarf::kValExpression:
      cursor_.block();
      return set(number, Rule::kExpression, 0);
    default:
      flaw_ = Unsupported::kUnknownInstruction;
  }
}

/// Locations ascend within a function; one that does not is damaged.
void FrameProgram::move_to(std::uint64_t location) {
  if (location < location_) {
    flaw_ = Unsupported::kDamagedInstructions;
  } else if (cursor_.ok()) {
    location_ = location;
  }
}

void FrameProgram::move_by(std::uint64_t units) {
  std::uint64_t bytes = 0, location = 0;
  if (__builtin_mul_overflow(units, common_->code_alignment, &bytes) ||
      __builtin_add_overflow(location_, bytes, &location)) {
    flaw_ = Unsupported::kDamagedInstructions;
  } else {
    move_to(location);
  }
}

void FrameProgram::set(std::uint64_t number, SavedRegister::Rule rule, std::int64_t offset) {
  if (const Register saved = followed(number)) state_.*saved = {.rule = rule, .offset = offset};
}

void FrameProgram::restore(std::uint64_t number) {
  if (const Register saved = followed(number)) state_.*saved = initial_->*saved;
}

void FrameProgram::remember() {
  if (remembered_.size() >= kMaxRemembered) {
    flaw_ = Unsupported::kTooManyStates;
  } else {
    remembered_.push_back(state_);
  }
}

void FrameProgram::restore_remembered() {
  if (remembered_.empty()) {
    flaw_ = Unsupported::kDamagedInstructions;
  } else {
    state_ = remembered_.back();
    remembered_.pop_back();
  }
}

std::int64_t FrameProgram::factored(std::uint64_t units) const {
  return static_cast<std::int64_t>(units * static_cast<std::uint64_t>(common_->data_alignment));
}

FrameProgram::Register FrameProgram::followed(std::uint64_t number) const {
  if (number == arch::kFramePointer) return &FrameState::frame_pointer;
  if (number == arch::kStackPointer) return &FrameState::stack_pointer;
  if (number == common_->return_address_column) return &FrameState::return_address;
  return nullptr;
}

}  // namespace hawk

#pragma once

#include <array>
#include <cstdint>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/arch/x86_64/instruction.h"

namespace hawk {

/// Which registers hold the arguments of a call, followed through straight code.
class ArgumentCopies {
 public:
  ArgumentCopies(hawk_call_kind kind, const ArgumentRegisters& passed_in);

  /// Only a move of all 64 bits makes a copy; whatever else a register receives is not an argument.
  void step(const Instruction& instruction);
  /// Whether each argument that is read for the kind is still somewhere.
  bool complete() const;
  ArgumentRegisters registers() const;

 private:
  std::array<bool, 3> read_;
  ArgumentRegisters passed_in_;
  std::array<std::uint32_t, 3> holders_ = {};  ///< bits by number
};

}  // namespace hawk

#include "userspace/unwinding/unsupported.h"

#include <algorithm>

#include "userspace/unwinding/arch/x86_64/registers.h"

namespace hawk {
namespace {

const char* name_of(Unsupported what) {
  switch (what) {
    case Unsupported::kNothing:
    case Unsupported::kCfaRegister:
      break;
    case Unsupported::kCfaMissing:
      return "no CFA";
    case Unsupported::kCfaExpression:
      return "CFA by an expression";
    case Unsupported::kReturnAddressMissing:
      return "no return address";
    case Unsupported::kReturnAddressInRegister:
      return "return address in a register";
    case Unsupported::kReturnAddressExpression:
      return "return address by an expression";
    case Unsupported::kReturnAddressRule:
      return "return address not next to the CFA";
    case Unsupported::kReturnAddressColumn:
      return "return address in an unknown column";
    case Unsupported::kStackPointer:
      return "stack pointer of the caller is not the CFA";
    case Unsupported::kFramePointer:
      return "frame pointer of the caller by an expression or in a register";
    case Unsupported::kSignalFrame:
      return "signal frame of an unknown layout";
    case Unsupported::kLargeOffset:
      return "an offset of more than 32 bits";
    case Unsupported::kTooManyRules:
      return "more different rules than there is room for";
    case Unsupported::kTooManyRows:
      return "more rows than there is room for";
    case Unsupported::kTooManyStates:
      return "more remembered states than any compiler writes";
    case Unsupported::kUnknownInstruction:
      return "unknown call frame instruction";
    case Unsupported::kDamagedInstructions:
      return "damaged call frame instructions";
    case Unsupported::kAugmentation:
      return "unknown augmentation";
    case Unsupported::kVersion:
      return "unknown version";
    case Unsupported::kAddressSize:
      return "unknown size of addresses";
    case Unsupported::kPointerEncoding:
      return "unknown pointer encoding";
    case Unsupported::kDamagedRecord:
      return "damaged record";
    case Unsupported::kTooManyRecords:
      return "more functions than there is room for";
    case Unsupported::kFarAway:
      return "function more than 4 GiB after the first";
  }
  return "";
}

}  // namespace

void UnsupportedCounts::add_cfa_register(std::uint64_t number) {
  const std::uint64_t index = std::min<std::uint64_t>(number, arch::kRegisterNames.size());
  ++counts_[static_cast<std::size_t>(Unsupported::kCfaRegister) + index];
}

std::map<std::string, std::uint64_t> UnsupportedCounts::by_name() const {
  static_assert(arch::kRegisterNames.size() + 1 == kRegisters);
  constexpr std::size_t kFirstRegister = static_cast<std::size_t>(Unsupported::kCfaRegister);
  std::map<std::string, std::uint64_t> named;
  for (std::size_t i = 1; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    if (i < kFirstRegister) {
      named[name_of(static_cast<Unsupported>(i))] = counts_[i];
    } else if (i - kFirstRegister < arch::kRegisterNames.size()) {
      named[std::string("CFA from ") + arch::kRegisterNames[i - kFirstRegister]] = counts_[i];
    } else {
      named["CFA from another register"] = counts_[i];
    }
  }
  return named;
}

}  // namespace hawk

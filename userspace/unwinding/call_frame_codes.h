#pragma once

#include <cstdint>

/// Numbers of DWARF 5 (section 7.24, 7.7) and the Linux Standard Base (Core, "Exception Frames"), under their names
/// there.
namespace hawk::dwarf {

/// Call frame instructions. The first three have their operand in the lower six bits.
enum CallFrameCode : std::uint8_t {
  kAdvanceLoc = 0x40,
  kOffset = 0x80,
  kRestore = 0xc0,
  kNop = 0x00,
  kSetLoc = 0x01,
  kAdvanceLoc1 = 0x02,
  kAdvanceLoc2 = 0x03,
  kAdvanceLoc4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefCfa = 0x0c,
  kDefCfaRegister = 0x0d,
  kDefCfaOffset = 0x0e,
  kDefCfaExpression = 0x0f,
  kExpression = 0x10,
  kOffsetExtendedSf = 0x11,
  kDefCfaSf = 0x12,
  kDefCfaOffsetSf = 0x13,
  kValOffset = 0x14,
  kValOffsetSf = 0x15,
  kValExpression = 0x16,
  kMipsAdvanceLoc8 = 0x1d,
  kGnuArgsSize = 0x2e,
  kGnuNegativeOffsetExtended = 0x2f,
};
constexpr std::uint8_t kPrimaryMask = 0xc0;

/// Operations of expressions.
enum Operation : std::uint8_t {
  kOpDeref = 0x06,
  kOpAnd = 0x1a,
  kOpPlus = 0x22,
  kOpPlusUconst = 0x23,
  kOpShl = 0x24,
  kOpGe = 0x2a,
  kOpLit0 = 0x30,
  kOpLit31 = 0x4f,
  kOpBreg0 = 0x70,
  kOpBreg31 = 0x8f,
  kOpBregx = 0x92,
};

/// How a pointer is written: format in the lower four bits, what it is relative to above.
enum PointerFormat : std::uint8_t {
  kPointerNative = 0x00,
  kPointerUleb = 0x01,
  kPointerU16 = 0x02,
  kPointerU32 = 0x03,
  kPointerU64 = 0x04,
  kPointerSleb = 0x09,
  kPointerS16 = 0x0a,
  kPointerS32 = 0x0b,
  kPointerS64 = 0x0c,
};
constexpr std::uint8_t kPointerFormatMask = 0x0f;
enum PointerBase : std::uint8_t {
  kPointerAbsolute = 0x00,
  kPointerToPc = 0x10,
  kPointerAligned = 0x50,
};
constexpr std::uint8_t kPointerBaseMask = 0x70;
constexpr std::uint8_t kPointerIndirect = 0x80;
constexpr std::uint8_t kPointerOmitted = 0xff;

}  // namespace hawk::dwarf

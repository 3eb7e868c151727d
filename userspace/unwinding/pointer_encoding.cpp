#include "userspace/unwinding/pointer_encoding.h"

#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/call_frame_codes.h"

namespace hawk {
namespace {

template <class Signed>
std::uint64_t sign_extended(ByteCursor& cursor) {
  return static_cast<std::uint64_t>(std::int64_t{cursor.number<Signed>()});
}

bool is_known_format(std::uint8_t encoding) {
  const std::uint8_t format = encoding & dwarf::kPointerFormatMask;
  return format <= dwarf::kPointerU64 || (format >= dwarf::kPointerSleb && format <= dwarf::kPointerS64);
}

/// To the next multiple of an address' size.
void skip_padding(ByteCursor& cursor, std::uint64_t at_vaddr) { cursor.take((0 - at_vaddr) % arch::kAddressBytes); }

}  // namespace

bool is_readable_pointer(std::uint8_t encoding) {
  // An aligned address is written in full; the format has no meaning for it.
  if (encoding == dwarf::kPointerAligned) return true;
  const std::uint8_t base = encoding & (dwarf::kPointerBaseMask | dwarf::kPointerIndirect);
  return is_known_format(encoding) && (base == dwarf::kPointerAbsolute || base == dwarf::kPointerToPc);
}

std::uint64_t read_pointer_sized_count(ByteCursor& cursor, std::uint8_t encoding) {
  switch (encoding & dwarf::kPointerFormatMask) {
    case dwarf::kPointerNative:
    case dwarf::kPointerU64:
    case dwarf::kPointerS64:
      return cursor.number<std::uint64_t>();
    case dwarf::kPointerUleb:
      return cursor.uleb();
    case dwarf::kPointerU16:
      return cursor.number<std::uint16_t>();
    case dwarf::kPointerU32:
      return cursor.number<std::uint32_t>();
    case dwarf::kPointerSleb:
      return static_cast<std::uint64_t>(cursor.sleb());
    case dwarf::kPointerS16:
      return sign_extended<std::int16_t>(cursor);
    case dwarf::kPointerS32:
      return sign_extended<std::int32_t>(cursor);
    default:
      cursor.fail();
      return 0;
  }
}

std::uint64_t read_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t at_vaddr) {
  if (encoding == dwarf::kPointerAligned) {
    skip_padding(cursor, at_vaddr);
    return cursor.number<std::uint64_t>();
  }
  const std::uint64_t value = read_pointer_sized_count(cursor, encoding);
  return (encoding & dwarf::kPointerBaseMask) == dwarf::kPointerToPc ? at_vaddr + value : value;
}

void skip_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t at_vaddr) {
  if (encoding == dwarf::kPointerOmitted) return;
  if ((encoding & dwarf::kPointerBaseMask) == dwarf::kPointerAligned) skip_padding(cursor, at_vaddr);
  read_pointer_sized_count(cursor, encoding);
}

}  // namespace hawk

// The bytes around what may be a return address: the code that the kernel-side walk reads from the target. Zydis is
// the judge: whatever it decodes as a near call that ends at the address has to be accepted.
#include <Zydis/Zydis.h>

#include "bpf/arch/x86_64/call_site.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

bool call_ends_at_address(const ZydisDecoder& decoder, const __u8* window) {
  for (std::size_t length = 2; length <= HAWK_CALL_SITE_BEFORE; ++length) {
    ZydisDecodedInstruction instruction;
    const ZyanStatus status =
        ZydisDecoderDecodeInstruction(&decoder, nullptr, window + HAWK_CALL_SITE_BEFORE - length, length, &instruction);
    if (ZYAN_SUCCESS(status) && instruction.length == length && instruction.mnemonic == ZYDIS_MNEMONIC_CALL &&
        instruction.meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (std::size_t start = 0; start + HAWK_CALL_SITE_BYTES <= size; ++start) {
    // On the heap and of exactly that size: the sanitizer sees a read outside.
    const std::vector<__u8> window(data + start, data + start + HAWK_CALL_SITE_BYTES);
    const bool accepted = hawk_is_return_address(window.data()) != 0;
    HAWK_CHECK(accepted || !call_ends_at_address(decoder, window.data()), "a call was not recognised");
  }
  return 0;
}

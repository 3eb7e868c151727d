// The arguments of an allocator call: four bytes of kind, then three integers. Products are compared with those in 128
// bits, which BPF does not have.
#include <array>
#include <cstring>

#include "bpf/requested_size.h"
#include "tests/fuzz/fuzz_input.h"

namespace {

__extension__ using Wide = unsigned __int128;

struct Call {
  __u32 kind;
  std::array<__u64, 3> arguments;
};

__u64 product(__u64 count, __u64 each_bytes) {
  const Wide whole = Wide{count} * each_bytes;
  return whole > UINT64_MAX ? UINT64_MAX : static_cast<__u64>(whole);
}

__u64 expected_bytes(const Call& call) {
  const auto [first, second, third] = call.arguments;
  switch (call.kind) {
    case HAWK_CALL_MALLOC:
      return first;
    case HAWK_CALL_CALLOC:
      return product(first, second);
    case HAWK_CALL_REALLOC:
    case HAWK_CALL_REALLOCF:
    case HAWK_CALL_EXPAND:
    case HAWK_CALL_XALLOCX:
    case HAWK_CALL_ALIGNED_ALLOC:
      return second;
    case HAWK_CALL_REALLOCARRAY:
      return product(second, third);
    case HAWK_CALL_POSIX_MEMALIGN:
      return third;
    default:
      return 0;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Call call = {};
  if (size < sizeof call.kind + sizeof call.arguments) return 0;
  std::memcpy(&call.kind, data, sizeof call.kind);
  std::memcpy(call.arguments.data(), data + sizeof call.kind, sizeof call.arguments);
  const __u64 requested = hawk_requested_bytes(call.kind, call.arguments[0], call.arguments[1], call.arguments[2]);
  HAWK_CHECK(requested == expected_bytes(call), "not the bytes that the call asks for");
  return 0;
}

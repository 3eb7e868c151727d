#include "userspace/code/start_context.h"

#include <array>
#include <string_view>

namespace hawk {
namespace {

constexpr std::array<std::string_view, 1> kNames = {"makecontext"};
/// mov %rbx,%rsp; mov (%rsp),%rdi: glibc, sysdeps/unix/sysv/linux/x86_64/__start_context.S.
constexpr std::array<std::uint8_t, 7> kStart = {0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24};

}  // namespace

std::optional<std::uint64_t> find_start_context(const ElfImage& image) {
  if (image.functions(kNames).empty()) return std::nullopt;
  return image.search_code(kStart).vaddr;
}

}  // namespace hawk

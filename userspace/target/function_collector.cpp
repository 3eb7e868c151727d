#include "userspace/target/function_collector.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace hawk {
namespace {

/// The name that starts at `offset`, without its version; empty when it does not end within `strings`.
std::string_view name_at(std::span<const char> strings, std::size_t offset) {
  const char* start = strings.data() + offset;
  const std::size_t room_bytes = strings.size() - offset;
  const std::size_t length = ::strnlen(start, room_bytes);
  if (length == room_bytes) return {};
  const std::string_view name(start, length);
  return name.substr(0, name.find('@'));
}

}  // namespace

void FunctionCollector::take(const Elf64_Sym& symbol, std::span<const char> strings) {
  if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) return;
  if (symbol.st_name >= strings.size()) return;
  const bool may_be_filtered = strings.size() - symbol.st_name >= 4;
  if (may_be_filtered && !names_.may_contain(strings.data() + symbol.st_name)) return;
  const std::string_view name = name_at(strings, symbol.st_name);
  const std::optional<std::size_t> index = names_.find(name);
  if (!index || settled_[*index] || !segments_.is_executable(symbol.st_value)) return;
  const bool known = std::any_of(found_.begin(), found_.end(), [&](const ElfFunction& function) {
    return function.vaddr == symbol.st_value && function.name == name;
  });
  if (!known) found_.push_back({std::string(name), symbol.st_value, symbol.st_size});
}

bool FunctionCollector::settle() {
  for (const ElfFunction& function : found_) settled_[*names_.find(function.name)] = true;
  return std::find(settled_.begin(), settled_.end(), false) == settled_.end();
}

}  // namespace hawk

#include "userspace/elf/function_collector.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace hawk {
namespace {

bool is_function(const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
}

}  // namespace

std::string_view symbol_name(const Elf64_Sym& symbol, std::span<const char> strings) {
  if (symbol.st_name >= strings.size()) return {};
  const char* start = strings.data() + symbol.st_name;
  const std::size_t room_bytes = strings.size() - symbol.st_name;
  const std::size_t length = ::strnlen(start, room_bytes);
  if (length == room_bytes) return {};
  const std::string_view name(start, length);
  return name.substr(0, name.find('@'));
}

std::optional<ElfFunction> defined_function(const Elf64_Sym& symbol, std::string_view name) {
  if (!is_function(symbol)) return std::nullopt;
  return ElfFunction{.name = std::string(name),
                     .vaddr = symbol.st_value,
                     .size_bytes = symbol.st_size,
                     .is_resolver = ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC};
}

void FunctionCollector::take(const Elf64_Sym& symbol, std::span<const char> strings) {
  if (!is_function(symbol)) return;
  if (symbol.st_name >= strings.size()) return;
  const bool may_be_filtered = strings.size() - symbol.st_name >= 4;
  if (may_be_filtered && !names_.may_contain(strings.data() + symbol.st_name)) return;
  const std::string_view name = symbol_name(symbol, strings);
  const std::optional<std::size_t> index = names_.find(name);
  if (!index || settled_[*index] || !segments_.is_executable(symbol.st_value)) return;
  const bool known = std::any_of(found_.begin(), found_.end(), [&](const ElfFunction& function) {
    return function.vaddr == symbol.st_value && function.name == name;
  });
  if (!known) found_.push_back(*defined_function(symbol, name));
}

bool FunctionCollector::settle() {
  for (const ElfFunction& function : found_) settled_[*names_.find(function.name)] = true;
  return std::find(settled_.begin(), settled_.end(), false) == settled_.end();
}

}  // namespace hawk

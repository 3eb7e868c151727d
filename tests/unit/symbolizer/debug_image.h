#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// Bytes of a section that a test writes by hand.
using Storage = std::vector<std::uint8_t>;

void append(Storage& to, std::uint64_t value, std::size_t bytes);
void append(Storage& to, const std::string& text);
Storage joined(const std::vector<Storage>& parts);

/// An ELF file with these sections and nothing else.
std::string elf_file_of(const std::vector<std::pair<std::string, Storage>>& sections);

/// A file of its own with these bytes, already deleted: readable through its descriptor alone.
UniqueFd deleted_file(const std::string& bytes);

}  // namespace hawk

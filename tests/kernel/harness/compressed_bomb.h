#pragma once

#include <cstdint>
#include <string>

namespace hawk {

/// Writes a copy of the ELF file `from` to `to` whose debug sections are compressed and become `inflated_bytes` each
/// when they are read: what they were, and then zeros. Some thousandth of that on disk.
void write_compressed_bomb(const std::string& from, const std::string& to, std::uint64_t inflated_bytes);

}  // namespace hawk

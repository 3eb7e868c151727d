#pragma once

#include <elf.h>

#include <optional>
#include <string>
#include <vector>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// The header of an ELF file, from the file's first bytes; nullopt unless it is a whole one, of 64 bits and
/// little-endian. For which processor, and what the file is for, is not asked.
std::optional<Elf64_Ehdr> elf_header_in(Bytes head);
/// Whether a file that begins like this is an ELF file of 32 bits; of 64, with all of its header.
bool is_32_bit_elf(Bytes head);
bool is_64_bit_elf(Bytes head);

/// Where the program headers lie in the file, and those that are there, from their bytes.
std::uint64_t program_headers_bytes(const Elf64_Ehdr& header);
std::vector<Elf64_Phdr> program_headers_in(Bytes bytes);

/// Content of the GNU build id note among `notes` (gABI, note section; sizes are padded to `alignment`); empty: there
/// is none.
std::string build_id_in(Bytes notes, std::uint64_t alignment);
/// Notes above this are none.
inline constexpr std::uint64_t kMaxNoteBytes = 1u << 20;

}  // namespace hawk

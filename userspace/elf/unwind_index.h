#pragma once

#include <cstdint>
#include <optional>

#include "userspace/elf/elf_segments.h"

namespace hawk {

/// See ElfImage::handles_no_exceptions. `index_vaddr`: where .eh_frame_hdr lies, as PT_GNU_EH_FRAME has it.
bool handles_no_exceptions(const ElfSegments& segments, std::uint64_t index_vaddr, std::uint64_t function_vaddr);

/// Where .eh_frame begins, by its index; nullopt when that is not understood.
std::optional<std::uint64_t> eh_frame_vaddr(const ElfSegments& segments, std::uint64_t index_vaddr);

}  // namespace hawk

#pragma once

#include <cstdint>

#include "userspace/target/elf_segments.h"

namespace hawk {

/// See ElfImage::handles_no_exceptions. `index_vaddr`: where .eh_frame_hdr lies, which PT_GNU_EH_FRAME tells.
bool handles_no_exceptions(const ElfSegments& segments, std::uint64_t index_vaddr, std::uint64_t function_vaddr);

}  // namespace hawk

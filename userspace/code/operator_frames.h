#pragma once

#include <optional>

#include "userspace/code/call_site_rules.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// nullopt when the file defines no operator new of that sort. Call sites of functions that do set up a frame pointer
/// (push %rbp; mov %rsp,%rbp) are left out: the ordinary walk is right there.
std::optional<OperatorFrames> find_operator_frames(const ElfImage& image);

}  // namespace hawk

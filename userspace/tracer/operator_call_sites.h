#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/code/call_site_rules.h"
#include "userspace/tracer/kernel_maps.h"

namespace hawk {

/// Tells the programs how to step over the forms of operator new in one more file that keep no frame pointer.
///
/// Returns the file's number, or nullopt when HAWK_MAX_OPERATOR_FILES files are known already. `rules_fd` is the
/// operator_rules map.
Result<std::optional<std::uint32_t>> add_operator_call_sites(const KernelMaps& maps, int rules_fd,
                                                             const OperatorFrames& frames);

/// Tells the programs where the file is mapped: the address that its ELF virtual address 0 has.
void set_operator_module_base(const KernelMaps& maps, std::uint32_t module, std::uint64_t base);

}  // namespace hawk

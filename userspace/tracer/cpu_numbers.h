#pragma once

#include <cstdint>
#include <string_view>

namespace hawk {

/// One more than the highest number in a list of CPUs as sysfs writes it ("0-3,8-11"): numbers may be missing, so that
/// this can be more than there are. 0: no such list.
std::uint32_t cpu_numbers_of(std::string_view list);

/// The same for the CPUs that this machine can have, which the kernel numbers below HAWK_MAX_CPUS; as many as that
/// where sysfs does not say (/sys/devices/system/cpu/possible, Documentation/ABI/testing/sysfs-devices-system-cpu).
std::uint32_t possible_cpu_numbers();

}  // namespace hawk

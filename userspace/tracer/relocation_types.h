#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// The name of a type as programs and the kernel have it in common: without what follows three underscores, by which
/// programs tell apart what a type is in different kernels.
std::string_view essential_name(std::string_view name);

/// As BTF of their own, the structures, unions, enumerations and typedefs of `btf` with these names, and what they are
/// made of. Pointers lead nowhere in it. That is all that the programs' accesses are fitted to the running kernel by;
/// libbpf, which looks through all types for each that a program uses, finds them in a tenth of the time. nullopt: this
/// is no BTF, or has kinds that are not known.
std::optional<std::vector<std::uint8_t>> types_for_relocations(Bytes btf, const std::set<std::string_view>& names);

}  // namespace hawk

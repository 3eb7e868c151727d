#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/tracer/type_table.h"

namespace hawk {

/// The name of a type as programs and the kernel have it in common: without what follows three underscores, by which
/// programs tell apart what a type is in different kernels.
std::string_view essential_name(std::string_view name);

/// Which of the kernel's types are wanted, by their names.
struct WantedTypes {
  std::set<std::string, std::less<>> types;      ///< structures, unions, enumerations and typedefs
  std::set<std::string, std::less<>> functions;  ///< with their parameters
};

/// Some of the kernel's types, as BTF of their own.
struct ReducedTypes {
  std::vector<std::uint8_t> btf;
  /// By their numbers in `btf`: those that the kernel knows them by; 0: it has none of this name.
  std::vector<std::uint32_t> kernel_numbers;
};

/// The types that are wanted and what they are made of, where pointers lead nowhere; that is all that the programs'
/// accesses are fitted to the running kernel by. And functions, of whose parameters the kinds can be compared. libbpf
/// looks through all types for each name that it is asked for: here it finds them in a tenth of the time. A function
/// that the kernel does not have is there all the same, with parameters that none has: libbpf would look for it in the
/// types of all modules, which are written to go with all types of the kernel.
ReducedTypes reduce_types(const TypeTable& types, const WantedTypes& wanted);

}  // namespace hawk

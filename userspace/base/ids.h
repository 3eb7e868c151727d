#pragma once

#include <cstdint>

namespace hawk {

/// Which interned call stack. 0 stands for "the stack could not be recorded" (a loss, counted).
enum class StackId : std::uint32_t {};
inline constexpr StackId kNoStack{0};

/// Index into Snapshot::targets: one traced process.
enum class TargetId : std::uint32_t {};

/// Index into Snapshot::modules.
enum class ModuleId : std::uint32_t {};

}  // namespace hawk

#pragma once

#include <span>
#include <string>

#include "userspace/commands/completions.h"

namespace hawk {

/// A script for each shell; see completion_script().
std::string bash_completions(std::span<const CompletedCommand> commands);
std::string zsh_completions(std::span<const CompletedCommand> commands);
std::string fish_completions(std::span<const CompletedCommand> commands);

}  // namespace hawk

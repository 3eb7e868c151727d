#pragma once

#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"

namespace hawk {

/// What the user asked for of the configuration.
struct ConfigOptions {
  bool check = false;
  bool example = false;
  Verbosity verbosity = Verbosity::kNormal;
};

/// Where the configuration is unless another file is named.
inline constexpr const char* kDefaultConfig = "/etc/hawktrace/hawktrace.toml";

/// `hawktrace config`: checks a configuration of the daemon, or prints one that explains each key.
Result<int> config_command(int argc, const char* const* argv);

/// The text about the command, and its options, which set `options`.
const CommandText& config_text();
OptionRows config_rows(ConfigOptions& options);

}  // namespace hawk

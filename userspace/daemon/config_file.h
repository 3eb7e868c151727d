#pragma once

#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/daemon/config.h"

namespace hawk {

/// The text of a file of the configuration, and its name for messages.
struct ConfigText {
  std::string file;
  std::string text;
};

/// What the files say together: a later one overrides single keys of those before. Fails with kUsage, and a message
/// that says where.
Result<DaemonConfig> parse_config(const std::vector<ConfigText>& files);

/// Reads `path`, "hawktrace.toml", and what is in "hawktrace.d" beside it and ends with ".toml", in the order of names.
/// Fails with kFile if something cannot be read.
Result<std::vector<ConfigText>> read_config(const std::string& path);

/// A configuration in which every key is explained, and none is set.
std::string example_config();

}  // namespace hawk

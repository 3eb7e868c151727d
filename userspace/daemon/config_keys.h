#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/daemon/config.h"
#include "userspace/daemon/toml_document.h"

namespace hawk {

/// A key of the configuration: for the parser, and for the example that explains it.
struct ConfigKey {
  std::string_view name;
  std::string_view example;  ///< a value, as in TOML: the default, where there is one
  bool is_default = true;    ///< whether `example` is what holds without the key
  std::string_view help;     ///< in one line
  /// `where`: "FILE:LINE: KEY".
  std::function<Result<void>(const TomlValue& value, const std::string& where)> set;
};
using ConfigKeys = std::vector<ConfigKey>;

/// The keys of each table, which set what they are given.
ConfigKeys daemon_keys(DaemonConfig& config);
ConfigKeys target_keys(TargetConfig& target);
ConfigKeys serve_keys(ServingOptions& serve);
ConfigKeys push_keys(PushOptions& push);

/// Sets what is in the table `name`. Unknown keys are errors, with the name that is probably meant.
Result<void> apply_keys(const TomlValue::Table& table, const ConfigKeys& keys, const std::string& file,
                        std::string_view name);

}  // namespace hawk

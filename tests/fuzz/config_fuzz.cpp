// The daemon's configuration: the text of a file.
#include "tests/fuzz/fuzz_input.h"
#include "userspace/daemon/config_file.h"

namespace {

void check_config(const hawk::DaemonConfig& config) {
  HAWK_CHECK(config.interval >= std::chrono::milliseconds(100), "an interval too short");
  for (const hawk::TargetConfig& target : config.targets) {
    HAWK_CHECK(!target.name.empty() && target.name.find('/') == std::string::npos && target.name.front() != '.',
               "a name that leads elsewhere");
    HAWK_CHECK(target.processes.empty() == !target.pid_file.empty(), "either a selection or a file");
    HAWK_CHECK(target.max_processes >= 1, "a target without processes");
    HAWK_CHECK(!target.max_overhead || *target.max_overhead > 0, "a budget of nothing");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(size > 0 ? hawk::fuzz::as_text(data, size) : std::string_view());
  const hawk::Result<hawk::DaemonConfig> config = hawk::parse_config({{"fuzz.toml", text}});
  if (config) {
    check_config(*config);
  } else {
    HAWK_CHECK(config.error().exit_code == hawk::ExitCode::kUsage, "a mistake in the file is one of usage");
    HAWK_CHECK(config.error().what.starts_with("fuzz.toml:") && !config.error().hint.empty(),
               "an error without place or remedy");
  }
  return 0;
}

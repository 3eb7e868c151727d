// The command line: arguments are separated by NUL bytes, the program's name is not among them.
#include <string>

#include "tests/fuzz/fuzz_input.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/options.h"

// Nothing is traced here.
namespace hawk {
void allow_emergency_memory() {}
}  // namespace hawk

namespace {

void check_options(const hawk::Options& options) {
  HAWK_CHECK(options.processes.empty() != options.trace.command.empty(), "either a process or a command");
  for (const int pid : options.processes.pids) HAWK_CHECK(pid > 0, "no process has such a number");
  HAWK_CHECK(!options.duration || options.duration->count() > 0, "a trace of no time");
  HAWK_CHECK(options.trace.interval >= std::chrono::milliseconds(100), "an interval too short");
  HAWK_CHECK(options.trace.stack_depth >= 1 && options.trace.stack_depth <= hawk::kMaxStackDepth,
             "a depth the kernel has no room for");
  HAWK_CHECK(options.trace.max_blocks.value_or(1) >= 1 && options.trace.max_stacks >= 1, "a table without room");
  HAWK_CHECK(!options.report.output_path || !options.report.output_path->empty(), "a file without a name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> arguments = {"hawktrace"};
  if (size > 0) {
    for (const std::string_view piece : hawk::fuzz::split_at_nul(hawk::fuzz::as_text(data, size))) {
      arguments.emplace_back(piece);
    }
  }
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  argv.push_back(nullptr);
  const hawk::Result<hawk::ParsedOptions> parsed = hawk::parse_options(static_cast<int>(arguments.size()), argv.data());
  if (!parsed) {
    HAWK_CHECK(parsed.error().exit_code == hawk::ExitCode::kUsage, "a malformed command line is a usage error");
    HAWK_CHECK(!parsed.error().what.empty() && !parsed.error().hint.empty(), "an error without message or remedy");
  } else if (const hawk::Options* options = std::get_if<hawk::Options>(&*parsed)) {
    check_options(*options);
  } else {
    HAWK_CHECK(std::get<hawk::InfoText>(*parsed).text.ends_with('\n'), "help is whole lines");
  }
  return 0;
}

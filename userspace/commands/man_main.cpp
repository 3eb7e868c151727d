// Prints the man page of the command that the first argument names (none: the one without a name), or with
// --completions the completions for the shell that the second one names: a step of the build.
#include <cstdio>
#include <string>
#include <string_view>

#include "userspace/commands/command.h"
#include "userspace/commands/completions.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/man_page.h"

namespace hawk {

// Nothing is traced here.
void allow_emergency_memory() {}

}  // namespace hawk

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "--completions") {
    const std::string script = hawk::completion_script(argv[2]);
    return script.empty() || std::fputs(script.c_str(), stdout) < 0 ? 1 : 0;
  }
  const hawk::Command& command = hawk::find_command(argc, argv);
  if (std::string_view(command.word) != (argc > 1 ? argv[1] : "")) return 1;
  return std::fputs(hawk::man_page(command).c_str(), stdout) < 0 ? 1 : 0;
}

// Prints the man page of the command that the first argument names (none: the one without a name): a step of the build.
#include <cstdio>
#include <string_view>

#include "userspace/commands/command.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/man_page.h"

namespace hawk {

// Nothing is traced here.
void allow_emergency_memory() {}

}  // namespace hawk

int main(int argc, char** argv) {
  const hawk::Command& command = hawk::find_command(argc, argv);
  if (std::string_view(command.word) != (argc > 1 ? argv[1] : "")) return 1;
  return std::fputs(hawk::man_page(command).c_str(), stdout) < 0 ? 1 : 0;
}

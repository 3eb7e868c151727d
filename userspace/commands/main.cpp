#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

#include "userspace/base/log.h"
#include "userspace/base/printable.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/command.h"
#include "userspace/commands/standard_streams.h"
#include "userspace/screen/terminal_signals.h"
#include "userspace/study/worker.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

/// Whether "--" is on the command line. Also used where no error can be reported any more.
bool has_command = false;

constexpr const char* kOutOfMemory = "out of memory";
constexpr const char* kOutOfMemoryHint = "free some memory, or raise the limit of this shell or cgroup";

/// Before main, in a thread and in a destructor it cannot be caught. The kernel removes the probes with the process.
[[noreturn]] void end_without_memory() {
  restore_terminal();
  log_error(kOutOfMemory, kOutOfMemoryHint);
  ::_exit(exit_status_of(ExitCode::kPrivilege, has_command));
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {  // the abort shows where
  }
  std::abort();
}

/// The state that other initializers of static objects find.
[[gnu::constructor(101)]] void end_initialisation_without_memory() { std::set_new_handler(end_without_memory); }
/// As early as may be.
[[gnu::constructor(101)]] void survive_early_signals() { SignalSource::survive_early_signals(); }

/// The exception has already removed probes, command and temporary file on its way here.
int main_program(int argc, char** argv) {
  const Command& command = find_command(argc, argv);
  has_command = command.starts_commands() &&
                std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  set_character_set(character_set_of(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG")));
  // By this ncurses knows what it may draw. Not the user's locale by name, which need not be installed.
  if (character_set() == CharacterSet::kUnicode) std::setlocale(LC_CTYPE, "C.UTF-8");
  secure_standard_streams();
  std::set_new_handler(nullptr);
  std::set_terminate(on_terminate);
  try {
    const Result<int> status = command.run(argc, argv);
    if (status) return *status;
    log_error(status.error());
    return exit_status_of(status.error().exit_code, has_command);
  } catch (const std::bad_alloc&) {
    log_error(kOutOfMemory, kOutOfMemoryHint);
    return exit_status_of(ExitCode::kPrivilege, has_command);
  } catch (const std::exception& thrown) {
    log_error(thrown.what(), "this is a bug in hawktrace: please report it");
    return exit_status_of(ExitCode::kInternal, has_command);
  }
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], hawk::kWorkerArgument) == 0) return hawk::run_worker(false);
  if (argc == 2 && std::strcmp(argv[1], hawk::kMovedWorkerArgument) == 0) return hawk::run_worker(true);
  return hawk::main_program(argc, argv);
}

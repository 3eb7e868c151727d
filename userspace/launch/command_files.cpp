/// Which files a command will map: its #! lines are followed as the kernel does, the libraries are those that the
/// dynamic linker itself names.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "userspace/base/regular_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/elf/elf_layout.h"
#include "userspace/launch/command_path.h"
#include "userspace/launch/launch.h"

namespace hawk {
namespace {

/// The kernel refuses more (fs/exec.c).
constexpr int kMaxInterpreters = 4;
/// As much of the first line as the kernel looks at (BINPRM_BUF_SIZE).
constexpr std::size_t kHeadBytes = 256;

std::string absolute_path(const std::string& path) {
  std::array<char, PATH_MAX> resolved;
  return ::realpath(path.c_str(), resolved.data()) != nullptr ? std::string(resolved.data()) : path;
}

/// Takes the next word off the front; empty at the end.
std::string_view take_word(std::string_view& text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

/// The command that `env` runs: the first word after its options and assignments.
std::string_view command_of_env(std::string_view arguments) {
  for (std::string_view word = take_word(arguments); !word.empty(); word = take_word(arguments)) {
    if (!word.starts_with('-') && word.find('=') == std::string_view::npos) return word;
  }
  return {};
}

/// "libc.so.6 => /lib/libc.so.6 (0x7f...)" or "/lib64/ld.so (0x7f...)"; empty for the vdso and what was not found.
std::string path_in_line(std::string_view line) {
  constexpr std::string_view kArrow = " => ";
  if (const std::size_t arrow = line.find(kArrow); arrow != std::string_view::npos) {
    line.remove_prefix(arrow + kArrow.size());
  }
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t address = line.rfind(" (0x");
  if (address == std::string_view::npos) return {};
  line = line.substr(0, address);
  return line.find('/') == std::string_view::npos ? std::string() : std::string(line);
}

Result<std::string> read_all(int fd, const std::string& what) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure(ExitCode::kItself, what, errno);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

/// What `interpreter --list program` prints. It inherits our environment, for LD_PRELOAD and LD_LIBRARY_PATH.
Result<std::string> list_libraries(const std::string& interpreter, const std::string& program) {
  const std::string what = fmt::format("list the libraries of {} with {}", program, interpreter);
  std::array<int, 2> ends = {-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return system_failure(ExitCode::kItself, fmt::format("{}: pipe2", what), errno);
  }
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, write_end.get(), STDOUT_FILENO);
  // What it would complain about, the program itself will say when it is started.
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::array<const char*, 4> arguments = {interpreter.c_str(), "--list", program.c_str(), nullptr};
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, interpreter.c_str(), &actions, nullptr, const_cast<char* const*>(arguments.data()), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return system_failure(exec_failure(error), what, error);
  write_end.reset();
  Result<std::string> text = read_all(read_end.get(), what);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

/// Collects the files of one command.
class FileCollector {
 public:
  /// `depth`: how many #! lines led here.
  Result<void> add_program(const std::string& path, int depth) {
    UniqueFd fd = open_regular_file(path);
    if (!fd) return system_failure(exec_failure(errno), fmt::format("run {}", path), errno);
    std::array<char, kHeadBytes> bytes;
    const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), 0);
    const std::string_view head(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
    if (head.starts_with("#!")) return add_script(path, head.substr(2), depth);
    // execvp hands what the kernel does not know to the shell.
    if (!head.starts_with("\177ELF")) return add_script(path, kShell, depth);
    return add_elf(std::move(fd), absolute_path(path));
  }

  std::vector<std::string> take() { return std::move(files_); }

 private:
  void add_file(const std::string& path) {
    const std::string absolute = absolute_path(path);
    if (std::find(files_.begin(), files_.end(), absolute) == files_.end()) files_.push_back(absolute);
  }

  Result<void> add_script(const std::string& path, std::string_view first_line, int depth) {
    if (depth == kMaxInterpreters) {
      return fail(ExitCode::kCannotExecute,
                  fmt::format("run {}: more than {} levels of #! lines", path, kMaxInterpreters));
    }
    std::string_view arguments = first_line.substr(0, first_line.find('\n'));
    const std::string interpreter(take_word(arguments));
    if (interpreter.empty())
      return fail(ExitCode::kCannotExecute, fmt::format("run {}: its #! line names no interpreter", path));
    HAWK_TRY_VOID(add_program(interpreter, depth + 1));
    const std::string_view base_name = std::string_view(interpreter).substr(interpreter.rfind('/') + 1);
    if (base_name != "env") return {};
    const std::string command(command_of_env(arguments));
    if (command.empty()) return {};
    return add_program(HAWK_TRY(find_command(command)), depth + 1);
  }

  Result<void> add_elf(UniqueFd fd, const std::string& path) {
    const ElfLayout image = HAWK_TRY(ElfLayout::make(std::move(fd), path));
    add_file(path);
    const std::string interpreter = image.interpreter();
    if (interpreter.empty()) return {};
    std::string listed = HAWK_TRY(list_libraries(interpreter, path));
    add_file(interpreter);
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      const std::string library = path_in_line(line);
      if (!library.empty()) add_file(library);
    }
    return {};
  }

  std::vector<std::string> files_;
};

}  // namespace

Result<std::vector<std::string>> files_of_command(const std::vector<std::string>& argv) {
  if (argv.empty()) return fail(ExitCode::kUsage, "start a command: none given", "hawktrace -- CMD ARGS...");
  FileCollector collector;
  const std::string program = HAWK_TRY(find_command(argv[0]));
  HAWK_TRY_VOID(collector.add_program(program, 0));
  return collector.take();
}

}  // namespace hawk

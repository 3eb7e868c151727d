#include "tests/unwinding/dumped_program.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tests/support/file_content.h"
#include "userspace/base/check.h"

namespace hawk {
namespace {

namespace fs = std::filesystem;

long variable_or(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value ? std::strtol(value, nullptr, 10) : otherwise;
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& output) {
  const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

int run(const std::vector<std::string>& command, const std::string& output) {
  const pid_t child = ::fork();
  HAWK_CHECK(child >= 0, "a process for the program");
  if (child == 0) become(command, output);
  int status = -1;
  HAWK_CHECK(::waitpid(child, &status, 0) == child, "the program's end");
  return status;
}

void make_open_directory(const std::string& path, mode_t mode) {
  HAWK_CHECK(::mkdir(path.c_str(), 0700) == 0 && ::chmod(path.c_str(), mode) == 0, path.c_str());
}

}  // namespace

DumpChoice choice_of(long every) {
  const long factor = std::max(1L, variable_or("HAWK_UNWIND_FACTOR", 1));
  return {.every = std::max(1L, every / factor),
          .seed = static_cast<unsigned long>(variable_or("HAWK_UNWIND_SEED", 1))};
}

DumpedProgram dump_program(std::vector<std::string> command, const DumpChoice& choice) {
  DumpedProgram program;
  program.scratch = std::make_unique<ScratchDirectory>(0755);
  const ScratchDirectory& scratch = *program.scratch;
  const std::string dumps = scratch.path("dumps"), work = scratch.path("work");
  make_open_directory(dumps, 01777);
  make_open_directory(work, 0755);
  // A copy: where the build lies, a program without privileges may not be able to read.
  const std::string library = scratch.path("libdump.so");
  fs::copy_file(HAWK_DUMP_LIBRARY_PATH, library);
  ::setenv(HAWK_DUMP_DIRECTORY, dumps.c_str(), 1);
  ::setenv(HAWK_DUMP_EVERY, std::to_string(choice.every).c_str(), 1);
  ::setenv(HAWK_DUMP_SEED, std::to_string(choice.seed).c_str(), 1);
  ::setenv("HAWK_DUMP_LIBRARY", library.c_str(), 1);
  command.push_back(work);
  program.status = run(command, scratch.path("output"));
  program.output = content_of(scratch.path("output"));
  for (const fs::directory_entry& file : fs::directory_iterator(dumps)) {
    std::optional<DumpFile> image = DumpFile::read(file.path());
    if (image) program.images.push_back(std::move(*image));
  }
  return program;
}

DumpedProgram dump_workload(const std::string& program, const DumpChoice& choice) {
  return dump_program({HAWK_WORKLOADS_PATH, program}, choice);
}

}  // namespace hawk

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hawk {

/// Waits until every thread of `pid`, to which SIGSTOP has been sent, stands still; they are returned. Throws when that
/// takes longer than kPatienceMs.
std::vector<pid_t> wait_until_stopped(pid_t pid);

/// Where the stopped thread `tid` will go on in user space; nothing when it is not stopped, or at its end.
std::optional<std::uint64_t> program_counter(pid_t pid, pid_t tid);

struct CodeRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The executable mappings of `pid` whose name is `name`: a file's path, "[uprobes]".
std::vector<CodeRange> code_of(pid_t pid, const std::string& name);

}  // namespace hawk

#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "userspace/code/allocator_file.h"

namespace hawk::testing {

/// What stepping through a program's calls has shown.
struct Stepped {
  std::size_t calls = 0;
  std::size_t failed_calls = 0;  ///< that returned nothing
  std::size_t steps = 0;
  std::map<std::string, std::size_t> seen;  ///< by "yield +0x157 of malloc" how often a call was seen there
  std::vector<std::string> wrong;           ///< what must not be: a call not seen once, or with another size or block
  bool has_ended = false;
};

/// Other bytes for a file's code.
struct CodeChange {
  std::uint64_t file_offset = 0;
  std::vector<std::uint8_t> bytes;
};

struct StepOptions {
  std::vector<CodeChange> changes;  ///< made in the process right before its first call
  std::size_t most_steps = SIZE_MAX;
};

/// Runs `command`, which is or leads to a program built from tests/stepping/calls.c, with `environment` set, and steps
/// through each of its calls as the programs would see it by the plans of `allocator`, which is in the file at `path`.
Stepped step_through(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                     const std::string& path, const AllocatorFile& allocator, const StepOptions& options = {});

}  // namespace hawk::testing

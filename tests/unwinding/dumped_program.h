#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"
#include "tests/unwinding/stack_dump.h"

namespace hawk {

/// How often allocations are dumped.
struct DumpChoice {
  long every = 1000;       ///< on average
  unsigned long seed = 1;  ///< of the choice
};

/// `every` as a test has it, divided by HAWK_UNWIND_FACTOR if that is set: as many times more stacks. The seed is
/// HAWK_UNWIND_SEED if that is set.
DumpChoice choice_of(long every);

/// The dumps of a command and of all processes that it starts, one entry for each program image.
struct DumpedProgram {
  int status = -1;     ///< as wait(2) tells
  std::string output;  ///< of the command, errors included
  std::vector<DumpFile> images;
  std::unique_ptr<ScratchDirectory> scratch;  ///< with the preloaded library, which is part of every dump
};

/// Runs `command` with the library of dump.c named in HAWK_DUMP_LIBRARY, to be preloaded by the command where it likes.
/// Its own directory is a fresh one, which is its last argument.
DumpedProgram dump_program(std::vector<std::string> command, const DumpChoice& choice);

/// One of the programs that the script `workloads` knows.
DumpedProgram dump_workload(const std::string& program, const DumpChoice& choice);

}  // namespace hawk

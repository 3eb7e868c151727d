#pragma once

#include <string>
#include <vector>

#include "tests/kernel/harness/child_process.h"
#include "tests/support/scratch_directory.h"

namespace hawk {

/// Runs a program to its end, which must be a good one; returns what it has written.
std::string run(const std::vector<std::string>& words);

/// Reads what a program says up to a line with these words.
void wait_for(ChildProcess& program, const std::string& words);

/// Reads what redis says until it serves.
void wait_for_redis(ChildProcess& server);

/// Writes the file "configuration" of an nginx that serves the directory through its socket "socket". `processes`: its
/// directives for them; `http`, `server`: others for these blocks.
void write_nginx_configuration(const ScratchDirectory& directory, const std::string& processes,
                               const std::string& http = "", const std::string& server = "");

/// Directory of postgres's programs, of the newest version that is installed.
std::string postgres_programs();

/// Makes a database for the user "test" in `data`, within the directory; it belongs to nobody.
void make_database(const ScratchDirectory& directory, const std::string& data);

}  // namespace hawk

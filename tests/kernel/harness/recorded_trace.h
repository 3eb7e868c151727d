#pragma once

#include <string>
#include <vector>

#include "tests/kernel/harness/trace.h"

namespace hawk {

/// Whether traces by `way` are made by `hawktrace record`, which writes a recording in addition to its report. Every
/// kernel test has such a way and one of the others.
bool is_recorded(Way way);

/// Says that files of the running test are not to be found by its end: all of its recordings hold names.
void keep_names_in_recordings();
/// Of another test nothing is known yet.
void forget_recordings();

/// The words of hawktrace_command() for a trace that writes `recording` too.
std::vector<std::string> recording_command(Way way, const std::string& report_path, const std::string& recording);

/// Expects that the report made of `recording` is the one at `report_path`, byte for byte. `options`: those that the
/// trace was given.
void expect_same_as_recorded(const std::string& recording, const std::string& report_path,
                             const std::vector<std::string>& options);

}  // namespace hawk

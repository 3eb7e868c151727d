#include "userspace/base/log.h"

#include <fmt/core.h>

#include <cstdio>

namespace hawk {
namespace {

Verbosity current = Verbosity::kNormal;

}  // namespace

void set_verbosity(Verbosity verbosity) { current = verbosity; }
Verbosity verbosity() { return current; }

void log_error(const Error& error) {
  fmt::print(stderr, "hawktrace: error: {}\n", error.what);
  if (!error.hint.empty()) fmt::print(stderr, "hint: {}\n", error.hint);
}

void log_warning(std::string_view message) { fmt::print(stderr, "hawktrace: warning: {}\n", message); }

void log_info(std::string_view message) {
  if (current != Verbosity::kQuiet) fmt::print(stderr, "hawktrace: {}\n", message);
}

void log_verbose(std::string_view message) {
  if (current == Verbosity::kVerbose) fmt::print(stderr, "hawktrace: {}\n", message);
}

}  // namespace hawk

#pragma once

namespace hawk {

/// Prints where and what, then aborts: for our own bugs only, never for what the outside world can break.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const char* message);

}  // namespace hawk

#define HAWK_CHECK(condition, message)                                               \
  do {                                                                               \
    if (!(condition)) ::hawk::check_failed(__FILE__, __LINE__, #condition, message); \
  } while (false)

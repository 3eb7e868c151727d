#include "userspace/base/lazy_function.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "userspace/base/result.h"

namespace hawk {

void* function_in_library(const char* library, const char* package, const char* name) {
  void* handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* function = handle != nullptr ? ::dlsym(handle, name) : nullptr;
  if (function == nullptr) {
    const char* why = ::dlerror();
    fmt::print(stderr, "hawktrace: load {} from {}: {}\nhint: install Debian's package {}\n", name, library,
               why != nullptr ? why : "it is not there", package);
    std::_Exit(static_cast<int>(ExitCode::kFile));
  }
  return function;
}

}  // namespace hawk

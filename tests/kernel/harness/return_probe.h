#pragma once

#include <sys/types.h>

#include <string>

namespace hawk {

/// A return probe of somebody else: while it lives, the kernel puts the address of its trampoline in place of the
/// return address whenever the function is called.
class ReturnProbe {
 public:
  /// On `function` of the executable of process `pid`. Throws std::runtime_error when that cannot be done.
  ReturnProbe(pid_t pid, const std::string& function);
  ~ReturnProbe();
  ReturnProbe(const ReturnProbe&) = delete;
  ReturnProbe& operator=(const ReturnProbe&) = delete;

 private:
  int event_ = -1;
};

}  // namespace hawk

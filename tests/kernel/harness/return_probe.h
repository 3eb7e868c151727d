#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace hawk {

/// A return probe of another tracer: while it lives, the kernel puts the address of its trampoline in place of the
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

/// A probe of another tracer with a counter, as those of a USDT probe have it. While it lives, the kernel refuses every
/// probe without that counter on the same instruction.
class CountedProbe {
 public:
  /// On the instruction at `offset` of the file. Throws std::runtime_error when that cannot be done.
  CountedProbe(const std::string& path, std::uint64_t offset);
  ~CountedProbe();
  CountedProbe(const CountedProbe&) = delete;
  CountedProbe& operator=(const CountedProbe&) = delete;

 private:
  int event_ = -1;
};

}  // namespace hawk

#pragma once

#include <atomic>

namespace hawk {

/// A function of a C library that is looked up when it is first called. To load libcrypto alone takes longer than all
/// else of a program's start, of which there are three to attach to a process (two workers), and few of them call
/// anything in it. `Find` gives a function's address, and does not return without one.
template <class Function, void* (*Find)(const char* name)>
class LazyFunction;

template <class Result, class... Arguments, void* (*Find)(const char* name)>
class LazyFunction<Result(Arguments...), Find> {
 public:
  explicit constexpr LazyFunction(const char* name) : name_(name) {}

  /// By any thread.
  Result operator()(Arguments... arguments) {
    auto* function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Result (*)(Arguments...)>(Find(name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Result (*)(Arguments...)> function_ = nullptr;
};

/// The address of `name` in a shared library, or in one that it needs. Ends the program with a message if that cannot
/// be loaded or has no such function: as the dynamic loader does with a library that a program is linked with.
/// `package`: Debian's, for the hint.
void* function_in_library(const char* library, const char* package, const char* name);

}  // namespace hawk

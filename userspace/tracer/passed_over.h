#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hawk {

/// How often the kernel did not run programs of ours that it should have run. It begins none on a CPU where it runs
/// already; where the kernel preempts itself, the one that runs there may belong to a thread that waits, and what
/// another thread does meanwhile is passed over.
class PassedOver {
 public:
  /// How often a program, given by its descriptor, was passed over so far; nullopt: the kernel does not say.
  using Count = std::function<std::optional<std::uint64_t>(int program)>;

  explicit PassedOver(Count count = count_in_kernel) : count_(std::move(count)) {}

  /// Begins to count for a program, which must stay open.
  void watch(int program, std::string name);
  /// How often any of them was passed over since the last call. To be called once nothing more may be passed over.
  std::uint64_t take();

  static std::optional<std::uint64_t> count_in_kernel(int program);

 private:
  struct Program {
    int fd = -1;
    std::string name;
    std::uint64_t taken = 0;
  };

  Count count_;
  std::vector<Program> programs_;
};

}  // namespace hawk

#pragma once

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// A program as libbpf gives it to the kernel. All of it is copied, since libbpf frees what is its own.
class WaitingProgram {
 public:
  WaitingProgram(bpf_prog_type type, const char* name, const char* license, std::span<const bpf_insn> instructions,
                 const bpf_prog_load_opts& options);
  WaitingProgram(WaitingProgram&&) noexcept = default;
  WaitingProgram& operator=(WaitingProgram&&) noexcept = default;
  WaitingProgram(const WaitingProgram&) = delete;
  WaitingProgram& operator=(const WaitingProgram&) = delete;
  ~WaitingProgram() = default;

  /// In place of the numbers of types that libbpf was given, those that the kernel knows them by.
  void number_types_by(std::span<const std::uint32_t> kernel_numbers);
  std::size_t size() const { return instructions_.size(); }

  /// Has the kernel check and translate it. Below 0: errno says why not.
  int load();
  /// The same, with `log` as options for it.
  int load(const bpf_prog_load_opts& log);
  /// The same, in the place of what libbpf has got for it meanwhile.
  bool load_as(const bpf_program& program);

 private:
  using Records = std::vector<std::uint8_t>;

  static Records copy_of(const void* records, std::size_t count, std::size_t size);

  bpf_prog_type type_;
  std::string name_, license_;
  std::vector<bpf_insn> instructions_;
  Records functions_, lines_;
  bpf_prog_load_opts options_;
};

/// Programs that nearly no trace needs, or not before it has begun: loaded when they are.
class LaterPrograms {
 public:
  void add(const bpf_program& program, WaitingProgram waiting) {
    waiting_.insert_or_assign(&program, std::move(waiting));
  }

  /// To be called before its descriptor is used.
  Result<void> require(const bpf_program* program);

 private:
  std::map<const bpf_program*, WaitingProgram> waiting_;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/byte_cursor.h"
#include "userspace/tracer/type_table.h"

namespace hawk {

/// What the kernel says of its own functions and types: its BTF.
class KernelTypes {
 public:
  /// The running kernel's. Where that cannot be read, libbpf is asked, which knows other places.
  KernelTypes();
  KernelTypes(const KernelTypes&) = delete;
  KernelTypes& operator=(const KernelTypes&) = delete;
  ~KernelTypes();

  /// The number of a function, by which a program can be put on it; 0: there is none of this name.
  std::uint32_t function(const std::string& name) const;
  /// The number of the type that stands for a tracepoint; 0: there is none of this name.
  std::uint32_t tracepoint(const std::string& name) const;
  /// The number of a structure; 0: there is none of this name.
  std::uint32_t structure(const std::string& name) const;
  /// All of it; empty: it cannot be read.
  Bytes all() const { return btf_; }
  /// The same by number; nullptr: it cannot be read, or is not understood.
  const TypeTable* table() const { return table_ ? &*table_ : nullptr; }

 private:
  std::optional<std::uint32_t> find(unsigned kind, std::string_view name) const;

  Bytes btf_;
  std::optional<TypeTable> table_;
  void* mapped_ = nullptr;  ///< where btf_ is, if it is mapped
  std::string read_;        ///< or what has been read
};

}  // namespace hawk

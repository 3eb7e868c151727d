#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// The number of the first type of this kind (BTF_KIND_*) and name; 0: there is none. nullopt: this is no BTF, or has
/// kinds that are not known.
std::optional<std::uint32_t> find_type(Bytes btf, unsigned kind, std::string_view name);

/// Bytes that follow a type of this kind with so many members; nullopt: the kind is not known.
std::optional<std::uint64_t> bytes_after(unsigned kind, std::uint64_t members);

/// A type by its kind (BTF_KIND_*) and its name.
struct TypeName {
  unsigned kind = 0;
  std::string_view name;
};

/// The same of several, in their order, which takes hardly longer than for one.
std::optional<std::vector<std::uint32_t>> find_types(Bytes btf, std::span<const TypeName> wanted);

/// What the kernel says of its own functions and types: its BTF. A few names are looked for in it where it lies, those
/// that are always needed all at once. libbpf reads all of it for each name that it is asked for, which takes as long
/// as a tenth of the programs takes to load.
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

 private:
  std::optional<std::uint32_t> find(unsigned kind, std::string_view name) const;

  Bytes btf_;
  void* mapped_ = nullptr;  ///< where btf_ is, if it is mapped
  std::string read_;        ///< or what has been read
};

}  // namespace hawk

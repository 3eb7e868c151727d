#pragma once

#include <bpf/btf.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "userspace/base/owned.h"
#include "userspace/tracer/type_table.h"

namespace hawk {

/// BTF that a test makes.
using OwnedBtf = std::unique_ptr<btf, Freer<btf__free>>;

inline Bytes bytes_of(const btf* types) {
  __u32 size = 0;
  const void* const data = btf__raw_data(types, &size);
  return {static_cast<const std::uint8_t*>(data), size};
}

/// `types` must outlive it.
inline TypeTable table_of(const btf* types) {
  std::optional<TypeTable> table = TypeTable::read(bytes_of(types));
  if (!table) throw std::runtime_error("the types are not understood");
  return *std::move(table);
}

}  // namespace hawk

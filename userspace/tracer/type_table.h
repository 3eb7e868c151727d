#pragma once

#include <linux/btf.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// BTF with a place for each type's number. Nothing of it is copied: the bytes must outlive this. The kernel has more
/// than a hundred thousand types, of which next to none are looked at; libbpf reads all of them for each name that it
/// is asked for, which takes as long as a tenth of the programs takes to load.
class TypeTable {
 public:
  /// One type as it is written.
  struct Written {
    btf_type type = {};
    Bytes after;  ///< what follows it: members, values, dimensions
  };

  /// nullopt: this is no BTF, is not all of it, or has kinds that are not known.
  static std::optional<TypeTable> read(Bytes btf);

  /// One more than the highest number: number 0 is void, which is not written.
  std::uint32_t count() const { return static_cast<std::uint32_t>(starts_.size()); }
  /// `number`: of a type that there is, as in what follows.
  Written at(std::uint32_t number) const;
  btf_type type_at(std::uint32_t number) const {
    return ByteCursor(part_of(types_, starts_[number])).number<btf_type>();
  }
  /// From the offset of a name on, to the end of all names.
  Bytes text_at(std::uint32_t offset) const { return part_of(names_, offset); }
  std::string_view name_at(std::uint32_t offset) const { return ByteCursor(part_of(names_, offset)).text(); }

  /// The number of the first type of this kind (BTF_KIND_*) and name; 0: there is none.
  std::uint32_t find(unsigned kind, std::string_view name) const;

 private:
  Bytes types_, names_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace hawk

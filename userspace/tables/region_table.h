#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "userspace/base/address_range.h"
#include "userspace/tables/regions.h"

namespace hawk {

/// Addresses, as ranges that neither overlap nor touch.
class AddressSet {
 public:
  void add(AddressRange range);
  void clear() { ranges_.clear(); }
  /// The parts of `range` that are not in the set, ascending.
  std::vector<AddressRange> missing_of(AddressRange range) const;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< first address to one past the last
};

/// By which call a region was mapped, and of what.
struct RegionOwner {
  std::uint32_t stack = 0;  ///< the kernel side's number; 0: none
  RegionKind kind = RegionKind::kAnonymous;
  RegionOrigin origin = RegionOrigin::kProgram;
  auto operator<=>(const RegionOwner&) const = default;  // NOLINT(modernize-use-nullptr): of the comparison itself
};

/// A range that is mapped, as /proc/PID/maps has it.
struct KnownRegion {
  AddressRange range;
  RegionKind kind = RegionKind::kAnonymous;
};

/// What of an address space is mapped, and by whom: each address belongs to one owner at a time. Fed with the changes
/// in the order in which the kernel makes them.
///
/// A table begins unsettled: how things were when the first change came is known only roughly. settle() compares it
/// with a list of mappings that was read since; where changes have been announced, they count, and elsewhere the list.
class RegionTable {
 public:
  /// Settled and empty: all that is mapped will be announced.
  static RegionTable of_announced();
  /// What of the range was not mapped is now, by this owner; the rest stays as it is.
  void map(AddressRange range, const RegionOwner& owner);
  /// The same of a region that grows downwards by itself: what is new is of the owner of what lies above. `owner`:
  /// where nothing does.
  void grow(AddressRange range, const RegionOwner& owner);
  /// Nothing of the range is mapped any more.
  void unmap(AddressRange range);
  /// What was mapped when nothing had been announced yet.
  void add_older(const std::vector<KnownRegion>& known);
  /// That of a process which was made by fork: all is older than it. Settled if this one is.
  RegionTable copied() const;

  bool is_settled() const { return is_settled_; }
  /// `known`: all that was mapped at some moment since the first change, or since unsettle().
  void settle(const std::vector<KnownRegion>& known);
  /// Changes may be missing.
  void unsettle();

  /// By owner, those too that have nothing mapped any more.
  const std::map<RegionOwner, RegionCounters>& owners() const { return owners_; }

 private:
  struct Region {
    std::uint64_t end = 0;
    RegionOwner owner;
  };
  using Regions = std::map<std::uint64_t, Region>;
  Regions::iterator first_behind(std::uint64_t address);
  void insert(AddressRange range, const RegionOwner& owner);
  std::vector<AddressRange> unmapped_parts(AddressRange range);
  void touch(AddressRange range);

  Regions regions_;  ///< by first address; not overlapping, and none touches another one of its owner
  std::map<RegionOwner, RegionCounters> owners_;
  AddressSet touched_;  ///< while it is not settled: where changes have been announced
  bool is_settled_ = false;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/kinds.h"
#include "bpf/yield_points.h"
#include "userspace/code/allocator_file.h"
#include "userspace/tracer/links.h"

namespace hawk {

/// As the programs have it; nullopt: they cannot take it. Points that need no probe (YieldPlan's kForward) and those
/// where the kernel's return probe takes over are none either.
std::optional<hawk_yield_point> encode_yield(const YieldPoint& point, hawk_call_kind kind);

/// Takes the plan from functions that the programs cannot follow by it, and says in its place why.
void settle_plans(AllocatorFile& allocator);
/// Takes the plan from functions whose calls it sees before they have taken their blocks. To be called before
/// settle_plans().
void give_up_looking_ahead(AllocatorFile& allocator, const std::string& reason);
/// Takes the plans from all functions.
void give_up_plans(AllocatorFile& allocator, const std::string& reason);

/// One instruction to probe, with what is known there.
struct YieldProbe {
  std::uint64_t file_offset = 0;
  hawk_yield_point point = {};
};
/// Of all plans, sorted; points at one instruction, each for another caller, follow one another. `allocator` must be
/// settled.
std::vector<YieldProbe> yield_probes_of(const AllocatorFile& allocator);

/// The points that the programs know, by number. A view of their memory, which must live longer.
class YieldPoints {
 public:
  /// What was seen at each point, by stripe.
  using Hits = std::span<__u64[HAWK_MAX_YIELD_POINTS]>;

  YieldPoints(std::span<hawk_yield_point> points, Hits hits) : points_(points), hits_(hits) {}

  /// The probes on the instructions of all of them, with the number of the first point there, which the same ones of
  /// one file have in many processes. nullopt: there is no room.
  std::optional<std::vector<Probe>> add(const std::vector<YieldProbe>& probes);
  std::uint32_t count() const { return static_cast<std::uint32_t>(file_offsets_.size()); }
  bool has_room_for(const std::vector<YieldProbe>& probes) const;
  /// What is taken is not given back while the programs are loaded.
  bool is_half_taken() const { return count() >= points_.size() / 2; }
  /// How often something was seen there, of the same caller, in all processes together; 0 for one that is not known.
  std::uint64_t hits(const YieldProbe& probe) const;
  /// Takes the plans from functions that the programs cannot follow by them on this machine, and from all if there is
  /// no room for them.
  void settle(AllocatorFile& allocator) const;
  /// Forgets those from this number on, which no probe may have any more.
  void forget_from(std::uint32_t count) { file_offsets_.resize(count); }

 private:
  /// Of points at one instruction, that of the first.
  std::optional<std::uint32_t> number_of(std::span<const YieldProbe> callers) const;
  std::optional<std::uint32_t> add_callers(std::span<const YieldProbe> callers);

  std::span<hawk_yield_point> points_;
  Hits hits_;
  std::vector<std::uint64_t> file_offsets_;  ///< by number
};

}  // namespace hawk

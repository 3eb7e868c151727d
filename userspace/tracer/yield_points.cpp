#include "userspace/tracer/yield_points.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "userspace/code/plan_reliance.h"
#include "userspace/tracer/moving_memory.h"

namespace hawk {
namespace {

constexpr std::uint32_t kWordBytes = 8;

std::optional<std::uint16_t> bytes_of(std::uint32_t words) {
  if (words * kWordBytes >= HAWK_NOT_ON_STACK) return std::nullopt;
  return static_cast<std::uint16_t>(words * kWordBytes);
}

bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::kRegister; }

/// Fills in where the size is; false: nowhere that the programs look.
bool encode_size(const YieldPoint& point, hawk_yield_point& encoded) {
  if (is_register(point.size_factor)) {
    encoded.factor = static_cast<__u8>(point.size_factor.index);
  } else if (point.size_factor.kind != Operand::Kind::kNowhere) {
    return false;
  }
  if (is_register(point.size)) {
    encoded.size = static_cast<__u8>(point.size.index);
    return true;
  }
  const std::optional<std::uint16_t> at = bytes_of(point.size.index);
  if (point.size.kind != Operand::Kind::kStack || !at) return false;
  encoded.size_at = *at;
  return true;
}

/// Fills in where the first block of the list stands; false: the programs cannot take it.
bool encode_list(const YieldPoint& point, hawk_yield_point& encoded) {
  if (!point.ahead) return false;
  const FreeList& list = *point.ahead;
  const auto distance = static_cast<std::int64_t>(list.classes_vaddr - point.vaddr);
  encoded.lists = list.lists;
  encoded.list_shift = list.list_shift;
  encoded.size_shift = list.size_shift;
  encoded.size_added = list.size_added;
  encoded.classes = static_cast<__s32>(distance);
  encoded.head = list.head;
  return encoded.classes == distance;
}

/// Fills in what is known of the call by which the block is made; false: the programs cannot take it.
bool encode_inner(const YieldPoint& point, hawk_yield_point& encoded) {
  if (!point.inner) return true;
  const InnerCall& inner = *point.inner;
  const auto distance = static_cast<std::int64_t>(inner.return_vaddr - point.vaddr);
  constexpr std::uint32_t kMostWords = std::numeric_limits<std::uint8_t>::max();
  const bool is_near = distance == static_cast<std::int16_t>(distance);
  // Zero says that there is none, and that rbp is not saved.
  if (!is_near || inner.words == 0 || inner.words > kMostWords || inner.saved_rbp_words.value_or(1) - 1 >= kMostWords)
    return false;
  encoded.inner_words = static_cast<__u8>(inner.words);
  encoded.inner_rbp_words = static_cast<__u8>(inner.saved_rbp_words.value_or(0));
  encoded.inner_return = static_cast<__s16>(distance);
  return true;
}

/// Fills in where the call returns to that it takes for the point to count; false: the programs cannot take it.
bool encode_caller(const YieldPoint& point, hawk_yield_point& encoded) {
  encoded.caller_at = HAWK_NOT_ON_STACK;
  if (!point.called_by) return true;
  const InnerCall& caller = *point.called_by;
  const auto distance = static_cast<std::int64_t>(caller.return_vaddr - point.vaddr);
  const std::optional<std::uint16_t> at = bytes_of(point.slot_words);
  const std::uint32_t slot_words = point.slot_words + caller.words;
  const std::optional<std::uint16_t> slot = bytes_of(slot_words);
  if (distance != static_cast<std::int32_t>(distance) || !at || !slot) return false;
  encoded.caller_at = *at;
  encoded.caller_return = static_cast<__s32>(distance);
  encoded.slot_at = *slot;
  if (!caller.saved_rbp_words) return true;
  // What the callee has saved is not what the program has in rbp.
  const std::optional<std::uint16_t> rbp = bytes_of(slot_words - std::min(slot_words, *caller.saved_rbp_words));
  encoded.rbp_at = rbp.value_or(HAWK_NOT_ON_STACK);
  return rbp.has_value();
}

/// Of these kinds size and result are all there is to know.
bool is_plain(hawk_call_kind kind) {
  return kind == HAWK_CALL_MALLOC || kind == HAWK_CALL_CALLOC || kind == HAWK_CALL_ALIGNED_ALLOC;
}

/// For a probe in place of one at an entry: see YieldPlan.
bool can_return_be_probed(const YieldPoint& point, hawk_call_kind kind) {
  return is_plain(kind) && !point.condition && point.slot_words == 0 && !point.saved_rbp_words &&
         is_register(point.size) && point.size_factor.kind == Operand::Kind::kNowhere;
}

bool can_take(const YieldPoint& point, hawk_call_kind kind) {
  if (point.kind == PointKind::kForward) return true;
  if (point.kind == PointKind::kReturnProbe) return can_return_be_probed(point, kind);
  return encode_yield(point, kind).has_value();
}

bool looks_ahead(const AllocatorFunction& function) {
  const std::vector<YieldPoint>& points = function.yields.points;
  return std::any_of(points.begin(), points.end(),
                     [](const YieldPoint& point) { return point.kind == PointKind::kYieldAhead; });
}

bool is_same(const hawk_yield_point& a, const hawk_yield_point& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

/// By file offset, and by the caller.
using KnownPoints = std::map<std::pair<std::uint64_t, std::int32_t>, hawk_yield_point>;

/// Those at one instruction.
std::span<const YieldProbe> callers_at(std::span<const YieldProbe> probes) {
  return probes.first(probes.front().point.more_callers + std::size_t{1});
}

/// Whether the point can be probed beside those that are known at its instruction.
bool fits_among(const KnownPoints& known, std::uint64_t file_offset, const hawk_yield_point& point) {
  std::size_t others = 0;
  for (auto at = known.lower_bound({file_offset, std::numeric_limits<std::int32_t>::min()});
       at != known.end() && at->first.first == file_offset; ++at) {
    const hawk_yield_point& other = at->second;
    if (is_same(other, point)) return true;
    const bool is_for_another = point.caller_at != HAWK_NOT_ON_STACK && other.caller_return != point.caller_return;
    if (!is_for_another || other.caller_at != point.caller_at || other.condition != point.condition) return false;
    ++others;
  }
  return others < HAWK_MOST_CALLERS;
}

/// Why the programs cannot follow the function, together with those whose points are known; empty: they can.
std::string reason_against(const AllocatorFunction& function, const KnownPoints& known) {
  if (function.may_throw && has_return_probe(function))
    return "it may throw, and continues in a function that cannot be followed";
  for (const YieldPoint& point : function.yields.points) {
    if (!can_take(point, function.kind))
      return fmt::format("what is known at {:#x} cannot be passed on", point.file_offset);
    const std::optional<hawk_yield_point> encoded = encode_yield(point, function.kind);
    if (encoded && !fits_among(known, point.file_offset, *encoded))
      return fmt::format("another function ends at {:#x} as well", point.file_offset);
  }
  return {};
}

}  // namespace

std::optional<hawk_yield_point> encode_yield(const YieldPoint& point, hawk_call_kind kind) {
  hawk_yield_point encoded = {};
  encoded.condition = point.condition.value_or(HAWK_ALWAYS);
  encoded.result = encoded.factor = HAWK_NO_REGISTER;
  encoded.size_at = encoded.rbp_at = HAWK_NOT_ON_STACK;
  const std::optional<std::uint16_t> slot = bytes_of(point.slot_words);
  const std::optional<std::uint16_t> rbp = bytes_of(point.saved_rbp_words.value_or(0));
  if (!slot || !rbp) return std::nullopt;
  encoded.slot_at = *slot;
  if (point.saved_rbp_words) encoded.rbp_at = *rbp;
  if (!encode_caller(point, encoded)) return std::nullopt;
  switch (point.kind) {
    case PointKind::kYield:
      encoded.role = HAWK_YIELDS_ALL;
      break;
    case PointKind::kSize:
      encoded.role = HAWK_YIELDS_SIZE;
      break;
    case PointKind::kYieldAfterSize:
      encoded.role = HAWK_YIELDS_RESULT;
      break;
    case PointKind::kYieldAhead:
      encoded.role = HAWK_YIELDS_AHEAD;
      break;
    default:
      return std::nullopt;
  }
  // What the inner call returns is the block itself.
  const hawk_call_kind seen_as = point.inner ? HAWK_CALL_ALIGNED_ALLOC : kind;
  if (!encode_inner(point, encoded)) return std::nullopt;
  if (encoded.role != HAWK_YIELDS_RESULT && (!is_plain(seen_as) || !encode_size(point, encoded))) return std::nullopt;
  // Otherwise the call that is open says it.
  if (encoded.role != HAWK_YIELDS_RESULT) encoded.kind = static_cast<__u8>(seen_as);
  if (encoded.role == HAWK_YIELDS_SIZE) return encoded;
  if (encoded.role == HAWK_YIELDS_AHEAD) return encode_list(point, encoded) ? std::optional(encoded) : std::nullopt;
  if (is_register(point.result)) encoded.result = static_cast<__u8>(point.result.index);
  const bool tells_result =
      is_register(point.result) || (point.result.kind == Operand::Kind::kConstant && point.result.index == 0);
  return tells_result ? std::optional(encoded) : std::nullopt;
}

void settle_plans(AllocatorFile& allocator) {
  KnownPoints known;
  for (AllocatorFunction& function : allocator.functions) {
    YieldPlan& plan = function.yields;
    if (plan.points.empty()) continue;
    const std::string reason = reason_against(function, known);
    if (!reason.empty()) {
      plan = no_plan(reason);
      continue;
    }
    for (const YieldPoint& point : plan.points) {
      if (const std::optional<hawk_yield_point> encoded = encode_yield(point, function.kind))
        known.emplace(std::pair(point.file_offset, encoded->caller_return), *encoded);
    }
  }
  settle_reliance(allocator);
}

void give_up_looking_ahead(AllocatorFile& allocator, const std::string& reason) {
  for (AllocatorFunction& function : allocator.functions) {
    if (looks_ahead(function)) function.yields = no_plan(reason);
  }
}

void give_up_plans(AllocatorFile& allocator, const std::string& reason) {
  for (AllocatorFunction& function : allocator.functions) {
    if (!function.yields.points.empty()) function.yields = no_plan(reason);
  }
}

std::vector<YieldProbe> yield_probes_of(const AllocatorFile& allocator) {
  KnownPoints known;
  for (const AllocatorFunction& function : allocator.functions) {
    for (const YieldPoint& point : function.yields.points) {
      if (const std::optional<hawk_yield_point> encoded = encode_yield(point, function.kind))
        known.emplace(std::pair(point.file_offset, encoded->caller_return), *encoded);
    }
  }
  std::vector<YieldProbe> probes;
  for (const auto& [at, point] : known) probes.push_back({.file_offset = at.first, .point = point});
  for (std::size_t i = probes.size(); i-- > 1;) {
    if (probes[i - 1].file_offset == probes[i].file_offset)
      probes[i - 1].point.more_callers = static_cast<__u8>(probes[i].point.more_callers + 1);
  }
  return probes;
}

std::optional<std::uint32_t> YieldPoints::number_of(std::span<const YieldProbe> callers) const {
  for (std::uint32_t number = 0; number + callers.size() <= count(); ++number) {
    const auto is_there = [&](const YieldProbe& probe) {
      const std::size_t at = number + static_cast<std::size_t>(&probe - callers.data());
      return file_offsets_[at] == probe.file_offset && is_same(points_[at], probe.point);
    };
    if (std::all_of(callers.begin(), callers.end(), is_there)) return number;
  }
  return std::nullopt;
}

bool YieldPoints::has_room_for(const std::vector<YieldProbe>& probes) const {
  std::size_t added = 0;
  for (std::span<const YieldProbe> left = probes; !left.empty(); left = left.subspan(callers_at(left).size())) {
    if (!number_of(callers_at(left))) added += callers_at(left).size();
  }
  return count() + added <= points_.size();
}

void YieldPoints::settle(AllocatorFile& allocator) const {
  const auto& functions = allocator.functions;
  if (std::any_of(functions.begin(), functions.end(), looks_ahead) && may_move_memory())
    give_up_looking_ahead(allocator, "the kernel may move the memory in which its lists are");
  settle_plans(allocator);
  if (!has_room_for(yield_probes_of(allocator))) give_up_plans(allocator, "there is no room for more points");
}

std::optional<std::uint32_t> YieldPoints::add_callers(std::span<const YieldProbe> callers) {
  if (const std::optional<std::uint32_t> known = number_of(callers)) return known;
  const std::uint32_t first = count();
  if (first + callers.size() > points_.size()) return std::nullopt;
  for (const YieldProbe& probe : callers) {
    const std::uint32_t number = count();
    points_[number] = probe.point;
    for (auto& stripe : hits_) __atomic_store_n(&stripe[number], 0, __ATOMIC_RELAXED);
    file_offsets_.push_back(probe.file_offset);
  }
  return first;
}

std::uint64_t YieldPoints::hits(const YieldProbe& probe) const {
  std::uint64_t sum = 0;
  for (std::uint32_t number = 0; number < count(); ++number) {
    hawk_yield_point point = points_[number];
    point.more_callers = probe.point.more_callers;
    if (file_offsets_[number] != probe.file_offset || !is_same(point, probe.point)) continue;
    for (const auto& stripe : hits_) sum += __atomic_load_n(&stripe[number], __ATOMIC_RELAXED);
  }
  return sum;
}

std::optional<std::vector<Probe>> YieldPoints::add(const std::vector<YieldProbe>& probes) {
  std::vector<Probe> numbered;
  for (std::span<const YieldProbe> left = probes; !left.empty(); left = left.subspan(callers_at(left).size())) {
    const std::optional<std::uint32_t> number = add_callers(callers_at(left));
    if (!number) return std::nullopt;
    numbered.push_back({.file_offset = left.front().file_offset,
                        .cookie = HAWK_COOKIE_POINT | std::uint64_t{*number} << HAWK_COOKIE_POINT_SHIFT});
  }
  return numbered;
}

}  // namespace hawk

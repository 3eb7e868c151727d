#include "userspace/recording/recorded_points.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace hawk::recording {
namespace {

template <class Bytes, class Of>
void point_fields(Bytes& bytes, Of& point) {
  if constexpr (Bytes::kReads) {
    point.shows = static_cast<PointShows>(bytes.number_below(kPointsShow));
  } else {
    bytes.number(static_cast<std::uint64_t>(point.shows));
  }
  bytes.number(point.file_offset);
  bytes.flag(point.single_stepped);
  bytes.flag(point.conditional);
  bytes.optional(point.cost_ns, [&](auto& cost) { bytes.number(cost); });
}

template <class Bytes, class Of>
void function_points(Bytes& bytes, Of& function) {
  bytes.text(function.points_fallback);
  bytes.list(function.points, [&](auto& point) { point_fields(bytes, point); });
}

bool has_something(const ProbedFunction& function) {
  return !function.points.empty() || !function.points_fallback.empty();
}

/// Of all functions, behind each other.
template <class Target, class Each>
void for_each_point(Target& target, Each each) {
  for (auto& allocator : target.allocators) {
    for (auto& function : allocator.functions) {
      for (auto& point : function.points) each(point);
    }
  }
}

std::vector<std::optional<std::uint64_t>> calls_of(const TargetInfo& target) {
  std::vector<std::optional<std::uint64_t>> calls;
  for_each_point(target, [&](const ProbedPoint& point) { calls.push_back(point.calls); });
  return calls;
}

/// A list whose length is known at its end; empty: it has nothing.
std::string with_count(std::uint64_t count, const ByteWriter& items) {
  if (count == 0) return {};
  ByteWriter bytes;
  bytes.number(count);
  bytes.raw(items.bytes());
  return bytes.bytes();
}

std::string changed_calls(const std::vector<std::optional<std::uint64_t>>& now,
                          const std::vector<std::optional<std::uint64_t>>& before) {
  ByteWriter changed;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] == (i < before.size() ? before[i] : std::nullopt)) continue;
    changed.number(i);
    changed.optional(now[i], [&](std::uint64_t calls) { changed.number(calls); });
    ++count;
  }
  return with_count(count, changed);
}

}  // namespace

std::string points_of(const TargetInfo& target) {
  ByteWriter functions;
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < target.allocators.size(); ++i) {
    for (std::size_t j = 0; j < target.allocators[i].functions.size(); ++j) {
      const ProbedFunction& function = target.allocators[i].functions[j];
      if (!has_something(function)) continue;
      functions.number(i);
      functions.number(j);
      function_points(functions, function);
      ++count;
    }
  }
  return with_count(count, functions);
}

void take_points(ByteReader& bytes, TargetInfo& target) {
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    const std::uint64_t allocator = bytes.number_below(target.allocators.size());
    if (!bytes.is_good()) return;
    std::vector<ProbedFunction>& functions = target.allocators[allocator].functions;
    const std::uint64_t function = bytes.number_below(functions.size());
    if (bytes.is_good()) function_points(bytes, functions[function]);
  }
}

std::string point_calls_of(const TargetInfo& target, const TargetInfo& before) {
  return changed_calls(calls_of(target), calls_of(before));
}

std::string point_calls_of(const TargetInfo& target) { return changed_calls(calls_of(target), {}); }

void take_point_calls(ByteReader& bytes, TargetInfo& target) {
  std::vector<ProbedPoint*> points;
  for_each_point(target, [&](ProbedPoint& point) { points.push_back(&point); });
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    const std::uint64_t number = bytes.number_below(points.size());
    if (bytes.is_good()) bytes.optional(points[number]->calls, [&](std::uint64_t& calls) { bytes.number(calls); });
  }
}

}  // namespace hawk::recording

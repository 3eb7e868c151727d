#include "userspace/export/json_mappings.h"

#include <fmt/core.h>

#include <iterator>
#include <vector>

#include "userspace/export/json_calls.h"
#include "userspace/tables/fingerprint.h"
#include "userspace/tables/mapping_sums.h"

namespace hawk {
namespace {

void append_counters(std::string& out, const RegionCounters& counters) {
  fmt::format_to(std::back_inserter(out),
                 R"("live_bytes":{},"regions":{},"mapped_bytes":{},"mapped_count":{},"unmapped_bytes":{})",
                 counters.live_bytes(), counters.regions, counters.mapped_bytes, counters.mapped_count,
                 counters.unmapped_bytes);
}

/// Every kind, so that a reader need not ask whether there is any.
void append_kinds(std::string& out, const MappingSums& sums) {
  const char* before = "\n      ";
  for (std::size_t i = 0; i < kRegionKinds; ++i) {
    const auto kind = static_cast<RegionKind>(i);
    fmt::format_to(std::back_inserter(out), R"({}{{"kind":"{}",)", before, region_kind_name(kind));
    append_counters(out, sums.of(kind));
    for (std::size_t j = 0; j < kRegionOrigins; ++j) {
      const auto origin = static_cast<RegionOrigin>(j);
      fmt::format_to(std::back_inserter(out), R"(,"{}_live_bytes":{})", region_origin_name(origin),
                     sums.of(kind, origin).live_bytes());
    }
    out += '}';
    before = ",\n      ";
  }
}

}  // namespace

std::string mappings_json(const Snapshot& snapshot, Symbolizer& symbolizer, const RoleOfFunction& role_of,
                          const LocationCountObserver& observer) {
  std::vector<const StackRecord*> stacks;
  for (const MappedStack& mapped : *snapshot.mappings) stacks.push_back(&mapped.stack);
  const CallTable calls(snapshot, stacks, symbolizer, role_of, observer);
  CallTexts texts(snapshot, calls);
  const Fingerprints fingerprints(snapshot);
  std::string out = "{\n    \"kinds\": [";
  append_kinds(out, mapping_sums(*snapshot.mappings));
  out += "\n    ],\n    \"stacks\": [";
  const char* before = "\n      ";
  for (const MappedStack& mapped : *snapshot.mappings) {
    const FrameList listed = calls.list(mapped.stack);
    const bool is_known = mapped.stack.id != kNoStack;
    fmt::format_to(std::back_inserter(out), R"({}{{"kind":"{}","origin":"{}","id":{},"fingerprint":{},"label":{},)",
                   before, region_kind_name(mapped.kind), region_origin_name(mapped.origin),
                   static_cast<std::uint32_t>(mapped.stack.id),
                   is_known ? fmt::format("\"{:016x}\"", fingerprints.of(mapped.stack)) : "null", texts.label(listed));
    append_counters(out, mapped.counters);
    out += R"(,"frames":[)";
    texts.append_frames(out, listed);
    out += "]}";
    before = ",\n      ";
  }
  out += stacks.empty() ? "]\n  }" : "\n    ]\n  }";
  return out;
}

}  // namespace hawk

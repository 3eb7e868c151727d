#include "userspace/tracer/attach_way.h"

namespace hawk {

std::optional<AttachWay> parse_attach_way(std::string_view text) {
  for (const AttachWay way : {AttachWay::kPoints, AttachWay::kSession, AttachWay::kMulti, AttachWay::kPerf}) {
    if (attach_way_name(way) == text) return way;
  }
  return std::nullopt;
}

std::string_view attach_way_name(AttachWay way) {
  switch (way) {
    case AttachWay::kPoints:
      return "points";
    case AttachWay::kSession:
      return "session";
    case AttachWay::kMulti:
      return "multi";
    case AttachWay::kPerf:
      break;
  }
  return "perf";
}

}  // namespace hawk

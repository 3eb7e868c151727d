#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "userspace/serving/http_server.h"
#include "userspace/serving/push_counts.h"
#include "userspace/serving/served_targets.h"
#include "userspace/serving/top_stacks.h"

namespace hawk {

/// What /metrics is made of.
struct MetricsInput {
  std::vector<ServedTarget> targets;
  ServedHost host;
  std::vector<TopStacks> top_stacks = {};  ///< where they were asked for
  const HttpCounts* http = nullptr;
  std::size_t http_connections = 0;
  const PushCounts* pushes = nullptr;  ///< nullptr: nothing is pushed
};

/// A page for Prometheus. The number of series depends on the configuration alone, not on what targets do.
std::string metrics_page(const MetricsInput& input);

}  // namespace hawk

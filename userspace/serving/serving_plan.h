#pragma once

#include <optional>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/serving/access.h"
#include "userspace/serving/listen_address.h"
#include "userspace/serving/push_target.h"
#include "userspace/serving/serving_options.h"
#include "userspace/serving/tls.h"

namespace hawk {

/// Options that have been found to be good, with what is in the files that they name.
struct ServingPlan {
  std::vector<ListenAddress> addresses;
  Access access;
  std::optional<TlsContext> tls;
  std::size_t top_stacks = 0;
  std::optional<PushTarget> push;  ///< nullopt: nothing is sent
};

/// An error begins with the key that it is about.
Result<ServingPlan> plan_serving(const ServingOptions& options);

}  // namespace hawk

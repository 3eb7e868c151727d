#pragma once

#include <memory>
#include <string>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/base/result.h"
#include "userspace/serving/served_targets.h"
#include "userspace/serving/serving_options.h"

namespace hawk {

/// The daemon's HTTP interface, and the profiles that it sends. All of it runs in the callbacks of an event loop, but
/// for one thread that writes profiles.
class Serving {
 public:
  /// Listens, once it returns. An error names the key of the configuration that it is about. `loop` and `targets` must
  /// outlive it.
  static Result<std::unique_ptr<Serving>> make(EventLoop& loop, const ServingOptions& options, ServedTargets& targets);

  Serving(const Serving&) = delete;
  Serving& operator=(const Serving&) = delete;
  /// Closes all connections and removes its unix sockets.
  virtual ~Serving() = default;

  /// Goes on with `options`: files are read again, and addresses that stay are listened at throughout. A failure
  /// changes nothing.
  virtual Result<void> reload(const ServingOptions& options) = 0;

  /// Where it listens, as it can be typed, with the ports that it has got.
  virtual std::vector<std::string> addresses() const = 0;

 protected:
  Serving() = default;
};

/// Whether make() would take them, as far as can be said without listening: for `hawktrace config --check`.
Result<void> check_serving_options(const ServingOptions& options);

}  // namespace hawk

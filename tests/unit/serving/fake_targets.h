#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/serving/served_targets.h"

namespace hawk {

/// Targets whose heaps are samples: "shop", a service; "several", three processes of it; and one that is not traced and
/// whose name and processes are chosen to do harm.
class FakeTargets : public ServedTargets {
 public:
  enum class Age { kEarly, kLater, kShrunk };
  static constexpr const char* kHostileName = "evil\n\"} 1\nhawktrace_live_bytes{target=\"shop\"} 666\r\n\x1b[2J\\";

  /// What "shop" is from now on.
  void set_age(Age age) { age_ = age; }
  Sample shop() const;
  /// How many heaps have been asked for.
  std::size_t heaps() const { return heaps_; }

  std::vector<ServedTarget> targets() const override;
  ServedHost host() const override;
  Result<ServedHeap> heap(const std::string& target) override;
  std::string status_text() const override { return "two of three targets are traced\n"; }

 private:
  Age age_ = Age::kEarly;
  std::size_t heaps_ = 0;
};

}  // namespace hawk

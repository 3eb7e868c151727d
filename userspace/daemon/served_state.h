#pragma once

#include <memory>
#include <string>
#include <vector>

#include "userspace/daemon/target_tracing.h"
#include "userspace/serving/served_targets.h"
#include "userspace/study/known_symbols.h"

namespace hawk {

/// What the daemon shows of itself.
class ServedState : public ServedTargets {
 public:
  /// Both must outlive this.
  ServedState(const Targets& targets, TargetTracing& tracing, std::string config_path);

  std::vector<ServedTarget> targets() const override;
  ServedHost host() const override;
  Result<ServedHeap> heap(const std::string& target) override;
  std::string status_text() const override;

  void note_reload() { ++reloads_; }

 private:
  const Targets& targets_;
  TargetTracing& tracing_;
  std::string config_path_;
  std::uint64_t start_unix_ns_;
  std::uint64_t reloads_ = 0;
  std::shared_ptr<KnownSymbols> known_symbols_ = std::make_shared<KnownSymbols>();
};

}  // namespace hawk

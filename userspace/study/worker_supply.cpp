#include "userspace/study/worker_supply.h"

namespace hawk {
namespace {

/// So many may take too long, or fail in another way, before the rest of the files is left unread.
constexpr int kMostHung = 3;
constexpr int kMostLost = 32;

}  // namespace

WorkerProcess* WorkerSupply::get() {
  if (worker_ && !worker_->has_code_as_we()) end();
  if (worker_) return worker_.get();
  if (hung_ >= kMostHung) why_none_ = "reading other files took too long";
  if (lost_ >= kMostLost) why_none_ = "reading other files failed too often";
  if (hung_ >= kMostHung || lost_ >= kMostLost) return nullptr;
  Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(program_, limits_);
  if (started) {
    worker_ = std::move(*started);
    is_adopted_ = false;
    ++number_;
  } else {
    why_none_ = started.error().what;
  }
  return worker_.get();
}

void WorkerSupply::adopt(std::unique_ptr<WorkerProcess> worker) {
  if (worker_ || !worker) return;
  worker_ = std::move(worker);
  worker_->set_limits(limits_);
  is_adopted_ = true;
  ++number_;
}

std::string WorkerSupply::lose() {
  if (worker_->has_hung()) ++hung_;
  ++lost_;
  std::string how = worker_->end();
  worker_.reset();
  return how;
}

}  // namespace hawk

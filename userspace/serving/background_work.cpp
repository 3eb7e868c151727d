#include "userspace/serving/background_work.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/base/threads.h"

namespace hawk {

Result<std::unique_ptr<BackgroundWork>> BackgroundWork::make(EventLoop& loop, std::size_t most) {
  UniqueFd wakeup(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wakeup) return system_failure(ExitCode::kPrivilege, "make an event descriptor", errno);
  std::unique_ptr<BackgroundWork> made(new BackgroundWork(loop, most, std::move(wakeup)));
  made->thread_ = try_thread([work = made.get(), stop = made->stop_.get_token()] { work->run(stop); });
  if (!made->thread_.joinable()) return fail(ExitCode::kPrivilege, "start a thread: there are too many");
  return made;
}

BackgroundWork::BackgroundWork(EventLoop& loop, std::size_t most, UniqueFd wakeup)
    : loop_(loop), most_(most), wakeup_(std::move(wakeup)) {
  loop_.watch(wakeup_.get(), [this](short) -> Result<void> {
    hand_over();
    return {};
  });
}

BackgroundWork::~BackgroundWork() {
  loop_.forget(wakeup_.get());
  stop_.request_stop();
}

std::shared_ptr<void> BackgroundWork::ask(Work work, Done done) {
  if (is_full()) return nullptr;
  ++asked_;
  std::shared_ptr<void> wanted = std::make_shared<char>();
  auto piece = std::make_unique<Piece>(Piece{std::move(work), std::move(done), wanted});
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(piece));
  }
  arrived_.notify_one();
  return wanted;
}

void BackgroundWork::run(const std::stop_token& stop) {
  for (;;) {
    std::unique_ptr<Piece> piece;
    {
      std::unique_lock lock(mutex_);
      if (!arrived_.wait(lock, stop, [this] { return !waiting_.empty(); }) || stop.stop_requested()) return;
      piece = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (!piece->wanted.expired()) {
      try {
        piece->work();
        piece->is_complete = true;
      } catch (const std::bad_alloc&) {  // `done` is called
      }
    }
    piece->work = nullptr;  // what it holds may be used by this thread only
    {
      const std::lock_guard lock(mutex_);
      done_.push_back(std::move(piece));
    }
    const std::uint64_t one = 1;
    if (::write(wakeup_.get(), &one, sizeof(one)) < 0) continue;  // it is readable already
  }
}

void BackgroundWork::hand_over() {
  std::uint64_t count = 0;
  if (::read(wakeup_.get(), &count, sizeof(count)) < 0) return;
  std::deque<std::unique_ptr<Piece>> done;
  {
    const std::lock_guard lock(mutex_);
    done.swap(done_);
  }
  for (const auto& piece : done) {
    --asked_;
    if (!piece->wanted.expired()) piece->done(piece->is_complete);
  }
}

}  // namespace hawk

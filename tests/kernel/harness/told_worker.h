#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>

namespace hawk {

/// A process that is forked here and does its work each time that it is told to.
class ToldWorker {
 public:
  explicit ToldWorker(const std::function<void()>& work) {
    EXPECT_EQ(::pipe(begin_.data()), 0);
    EXPECT_EQ(::pipe(done_.data()), 0);
    pid_ = ::fork();
    if (pid_ == 0) serve(work);
  }
  ToldWorker(const ToldWorker&) = delete;
  ToldWorker& operator=(const ToldWorker&) = delete;
  ~ToldWorker() {
    for (const int fd : {begin_[0], begin_[1], done_[0], done_[1]}) ::close(fd);
    ::waitpid(pid_, nullptr, 0);
  }

  int pid() const { return pid_; }
  void run() {
    char byte = 1;
    EXPECT_EQ(::write(begin_[1], &byte, 1), 1);
    EXPECT_EQ(::read(done_[0], &byte, 1), 1);
  }

 private:
  [[noreturn]] void serve(const std::function<void()>& work) {
    ::close(begin_[1]);
    for (char byte = 0; ::read(begin_[0], &byte, 1) == 1;) {
      work();
      if (::write(done_[1], &byte, 1) != 1) break;
    }
    ::_exit(0);
  }

  std::array<int, 2> begin_{}, done_{};
  int pid_ = -1;
};

}  // namespace hawk

#include "tests/kernel/harness/ready_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <utility>

#include "tests/kernel/harness/child_process.h"

namespace hawk {

ReadyPipe::ReadyPipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe2 failed");
  read_end_ = ends[0];
  write_end_ = ends[1];
}

ReadyPipe::~ReadyPipe() {
  close(read_end_);
  if (write_end_ >= 0) close(write_end_);
}

bool ReadyPipe::wait() {
  close(std::exchange(write_end_, -1));
  if (!wait_readable(read_end_)) throw std::runtime_error("hawktrace neither becomes ready nor ends");
  char byte = 0;
  return read(read_end_, &byte, 1) == 1;
}

}  // namespace hawk

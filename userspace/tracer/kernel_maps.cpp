#include "userspace/tracer/kernel_maps.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace hawk {

Result<MappedArray> MappedArray::make(int map_fd, std::size_t bytes, const char* name) {
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, map_fd, 0);
  if (data == MAP_FAILED) {
    return fail(ExitCode::kPrivilege, fmt::format("map the BPF array {}: {}", name, std::strerror(errno)));
  }
  return MappedArray(data, bytes);
}

}  // namespace hawk

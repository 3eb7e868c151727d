#include "userspace/tracer/live_blocks.h"

#include <bpf/bpf.h>

#include <cerrno>

#include "userspace/base/system_failure.h"

namespace hawk {

Result<void> for_each_entry(int fd, const std::function<void(const hawk_block_key&, const hawk_block&)>& visit) {
  std::vector<hawk_block_key> keys(16384);
  std::vector<hawk_block> blocks(keys.size());
  __u64 position = 0;
  bool first = true;
  for (;;) {
    __u32 count = static_cast<__u32>(keys.size());
    const int error =
        bpf_map_lookup_batch(fd, first ? nullptr : &position, &position, keys.data(), blocks.data(), &count, nullptr);
    const int reason = errno;
    if (error != 0 && reason == ENOSPC) {  // one bucket holds more than the batch
      keys.resize(keys.size() * 2);
      blocks.resize(keys.size());
      continue;
    }
    if (error != 0 && reason != ENOENT) {
      return system_failure(ExitCode::kPrivilege, "read the live table", reason);
    }
    for (__u32 i = 0; i < count; ++i) visit(keys[i], blocks[i]);
    if (error != 0) return {};
    first = false;
  }
}

}  // namespace hawk

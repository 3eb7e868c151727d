#include "userspace/tracer/studied_files.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "userspace/base/log.h"

namespace hawk {

/// One that does not fit holds the thread that maps it next, for a moment.
void StudiedFiles::store(const hawk_file_key& file, std::uint32_t what) {
  if (map_fd_ >= 0 && bpf_map_update_elem(map_fd_, &file, &what, BPF_ANY) != 0)
    log_verbose(fmt::format("note a file that needs no hold: errno {}", errno));
}

void StudiedFiles::add_without_probes(const hawk_file_key& file) { store(file, HAWK_FILE_WITHOUT_PROBES); }

std::uint64_t StudiedFiles::add_with_probes(const hawk_file_key& file) {
  const Key key(file.inode, file.changed_s, file.changed_ns, file.device, file.generation);
  const auto next = static_cast<std::uint32_t>(with_probes_.size());
  const auto [known, is_new] = with_probes_.try_emplace(key, std::min(next, HAWK_FILE_BITS));
  if (is_new) store(file, known->second);
  return known->second < HAWK_FILE_BITS ? std::uint64_t{1} << known->second : 0;
}

}  // namespace hawk

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hawk {

/// What tells processes of one program apart.
struct ProcessSummary {
  int pid = 0;
  std::uint64_t rss_bytes = 0;  ///< resident memory
  std::string command;          ///< its arguments, blanks between them; "[comm]" where it has none
};

/// Of those of `pids` that live; the largest first.
std::vector<ProcessSummary> summarize_processes(std::span<const int> pids);

}  // namespace hawk

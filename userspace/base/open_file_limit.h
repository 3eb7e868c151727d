#pragma once

#include <cstddef>

namespace hawk {

/// Room for four descriptors of each file that a process can have mapped (65,530: vm.max_map_count). One is kept beside
/// its probes; its symbols take its file, that again for DWARF, and its debug file.
inline constexpr std::size_t kOpenFilesOfAProcess = std::size_t{1} << 18;

/// What is open beside the files of processes: programs, maps, links, workers, the report.
inline constexpr std::size_t kOtherOpenFiles = 256;

/// Raises this process's limit of open files (RLIMIT_NOFILE) to `wanted`, or as far as it may, and returns what it is
/// then. Programs that are started later inherit it.
std::size_t raise_open_file_limit(std::size_t wanted);

/// Makes the kernel's table of this process's descriptors large enough for `count` of them, or for as many as the
/// limit, which it raises to that, allows. Otherwise the table grows when a descriptor does not fit, and that waits for
/// an RCU grace period if the process has threads (fs/file.c: expand_fdtable; 5 to 20 ms). So it is called before they
/// start.
void make_room_for_open_files(std::size_t count);

}  // namespace hawk

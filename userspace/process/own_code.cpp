#include "userspace/process/own_code.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "userspace/base/breakpoint_bytes.h"
#include "userspace/base/regular_file.h"
#include "userspace/base/unique_fd.h"
#include "userspace/process/mappings.h"

namespace hawk {
namespace {

std::atomic<bool> is_moved = false;

bool are_of_one_file(const Mapping& one, const Mapping& other) {
  return one.device == other.device && one.inode == other.inode;
}

/// The code of the library that has malloc. None where the program itself has it: nobody probes that.
std::vector<Mapping> code_with_malloc(const std::vector<Mapping>& all) {
  const auto mapping_of = [&](std::uint64_t address) {
    return std::find_if(all.begin(), all.end(),
                        [&](const Mapping& mapping) { return mapping.start <= address && address < mapping.end; });
  };
  void* (*const allocate)(std::size_t) = &std::malloc;
  const auto library = mapping_of(reinterpret_cast<std::uint64_t>(allocate));
  const auto program = mapping_of(reinterpret_cast<std::uint64_t>(&move_own_code));
  std::vector<Mapping> code;
  if (library == all.end() || program == all.end() || are_of_one_file(*library, *program)) return code;
  std::copy_if(all.begin(), all.end(), std::back_inserter(code),
               [&](const Mapping& mapping) { return mapping.executable && are_of_one_file(mapping, *library); });
  return code;
}

/// What the file has there, which is without breakpoints; none: it cannot be read.
UniqueFd copy_of(const Mapping& mapping) {
  const UniqueFd file = open_regular_file(fmt::format("/proc/self/map_files/{:x}-{:x}", mapping.start, mapping.end));
  UniqueFd copy(::memfd_create("code", MFD_CLOEXEC));
  if (!file || !copy || ::ftruncate(copy.get(), static_cast<off_t>(mapping.end - mapping.start)) != 0) return {};
  auto offset = static_cast<off_t>(mapping.file_offset);
  for (std::uint64_t rest = mapping.end - mapping.start; rest > 0;) {
    const ssize_t copied = ::sendfile(copy.get(), file.get(), &offset, rest);
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) return {};
    if (copied == 0) break;  // the file's last page is not full
    rest -= static_cast<std::uint64_t>(copied);
  }
  return copy;
}

/// The kernel puts one mapping into the place of the other under its lock: a thread that runs there waits for that, and
/// finds the same instructions.
void move(const Mapping& mapping) {
  const std::size_t bytes = mapping.end - mapping.start;
  const UniqueFd copy = copy_of(mapping);
  if (!copy) return;
  void* const beside = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, copy.get(), 0);
  if (beside == MAP_FAILED) return;
  // Or somebody has changed the code in another way.
  const bool is_same = is_same_code({static_cast<const std::uint8_t*>(beside), bytes},
                                    {reinterpret_cast<const std::uint8_t*>(mapping.start), bytes});
  ::munmap(beside, bytes);
  if (!is_same) return;
  // If it is refused the old one stays.
  (void)::mmap(reinterpret_cast<void*>(mapping.start), bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
               copy.get(), 0);
}

}  // namespace

void move_own_code() {
  if (is_moved.exchange(true)) return;
  const Result<std::vector<Mapping>> all = read_mappings(::getpid());
  if (!all) return;
  for (const Mapping& mapping : code_with_malloc(*all)) move(mapping);
}

bool own_code_is_moved() { return is_moved; }

}  // namespace hawk

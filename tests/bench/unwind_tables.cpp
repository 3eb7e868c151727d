// Reads the unwind tables of files as the tracer does: bench_unwind_tables FILE...
//
// Prints "= MILLISECONDS ROWS BYTES" for each: from the mapped file to its rows, rules numbered anew for each file;
// BYTES is what a row takes. MILLISECONDS is the median of several readings, the first of which has brought the file
// into memory; and processor time, so that what else runs on the machine is left out.
#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>

#include "userspace/base/unique_fd.h"
#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_section.h"

namespace hawk {
namespace {

constexpr int kReadings = 5;

std::span<const std::uint8_t> map_file(const char* path) {
  const UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) return {};
  const std::size_t size = static_cast<std::size_t>(status.st_size);
  void* bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (bytes == MAP_FAILED) return {};
  return {static_cast<const std::uint8_t*>(bytes), size};
}

template <class T>
T read_at(std::span<const std::uint8_t> file, std::uint64_t offset) {
  T value{};
  if (offset + sizeof(T) <= file.size()) std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// Section .eh_frame of a 64-bit file of this machine's byte order.
std::optional<UnwindSection> find_eh_frame(std::span<const std::uint8_t> file) {
  const Elf64_Ehdr header = read_at<Elf64_Ehdr>(file, 0);
  const auto section = [&](std::uint64_t number) {
    return read_at<Elf64_Shdr>(file, header.e_shoff + number * sizeof(Elf64_Shdr));
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  for (std::uint64_t i = 0; i < header.e_shnum; i++) {
    const Elf64_Shdr found = section(i);
    const auto name = read_at<std::array<char, sizeof(".eh_frame")>>(file, names.sh_offset + found.sh_name);
    if (std::string_view(name.data(), name.size()) != std::string_view(".eh_frame", name.size())) continue;
    if (found.sh_offset + found.sh_size > file.size()) return std::nullopt;
    return UnwindSection{.bytes = file.subspan(found.sh_offset, found.sh_size), .vaddr = found.sh_addr};
  }
  return std::nullopt;
}

double cpu_ms() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

bool measure(const char* path) {
  const std::optional<UnwindSection> section = find_eh_frame(map_file(path));
  if (!section) {
    fmt::print(stderr, "unwind tables: no .eh_frame in {}\n", path);
    return false;
  }
  std::array<double, kReadings> took_ms{};
  std::size_t rows = 0;
  for (double& took : took_ms) {
    RuleSet set;
    const double before = cpu_ms();
    rows = read_unwind_table(*section, set).rows.size();
    took = cpu_ms() - before;
  }
  std::nth_element(took_ms.begin(), took_ms.begin() + kReadings / 2, took_ms.end());
  fmt::print("= {:.3f} {} {}\n", took_ms[kReadings / 2], rows, sizeof(hawk_row));
  return true;
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: {} FILE...\n", argv[0]);
    return 2;
  }
  bool all_read = true;
  for (int i = 1; i < argc; i++) all_read &= hawk::measure(argv[i]);
  return all_read ? 0 : 1;
}

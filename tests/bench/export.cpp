// How long it takes to write a report of 100,000 stacks in each format, and in how much memory: bench_export [FORMAT].
// Fails where that is more than was promised.
#include <fmt/core.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "tests/unit/export/export_sample.h"
#include "userspace/export/format.h"

namespace hawk {
namespace {

constexpr std::uint32_t kStacks = 100'000;
/// The slowest, flamegraph, takes 2.3 s of CPU alone, and 3 s beside other tests, on an EPYC of 2 CPUs in a virtual
/// machine.
constexpr double kMostSeconds = 5;
constexpr long kMostKib = 500 * 1024;

/// In a process of its own, whose peak of memory is that of this format.
bool keeps_limits(const Format& format, Sample& sample) {
  const ReportRequest request = {
      .snapshot = sample.snapshot, .symbolizer = sample.symbolizer, .selection = {.top = 0}, .role_of = sample_role_of};
  std::size_t bytes = 0;
  const auto start = std::chrono::steady_clock::now();
  format.write(request, [&](std::string_view piece) {
    bytes += piece.size();
    return true;
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const double cpu = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                     static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  const bool kept = cpu <= kMostSeconds && usage.ru_maxrss <= kMostKib;
  fmt::print("{:<20} {:6.2f} s of CPU {:6.2f} s {:5} MiB resident {:9.1f} MiB written{}\n", format.name, cpu,
             took.count(), usage.ru_maxrss / 1024, static_cast<double>(bytes) / (1024 * 1024),
             kept ? "" : "  MORE THAN PROMISED");
  return kept && bytes != 0;
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) {
  hawk::Sample sample = hawk::large_sample(hawk::kStacks);
  bool kept = true;
  for (const hawk::Format& format : hawk::formats()) {
    if (argc > 1 && std::string_view(argv[1]) != format.name) continue;
    std::fflush(stdout);
    const pid_t child = ::fork();
    if (child == 0) {
      const bool ok = hawk::keeps_limits(format, sample);
      std::fflush(stdout);
      ::_exit(ok ? 0 : 1);
    }
    int status = 0;
    kept = ::waitpid(child, &status, 0) == child && status == 0 && kept;
  }
  return kept ? 0 : 1;
}

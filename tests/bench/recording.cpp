// What a recording costs: an hour at one second, of 5,000 stacks 500 active.
//   bench_recording FILE [SECONDS [STACKS [ACTIVE]]]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/unit/recording/recorded_series.h"
#include "userspace/export/text_report.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/recording/recording_writer.h"

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::size_t argument(int argc, char** argv, int index, std::size_t otherwise) {
  return argc > index ? std::strtoul(argv[index], nullptr, 10) : otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::size_t seconds = argument(argc, argv, 2, 3600);
  hawk::RecordedSeries series(argument(argc, argv, 3, 5000), 30);
  const std::size_t active = argument(argc, argv, 4, 500);
  hawk::Result<hawk::RecordingWriter> writer = hawk::RecordingWriter::create(argv[1], true);
  if (!writer) return 6;
  double first = 0, longest = 0, sum = 0;
  for (std::size_t second = 0; second < seconds; ++second) {
    series.advance(active);
    const Clock::time_point start = Clock::now();
    const bool is_last = second + 1 == seconds;
    if (!(is_last ? writer->finish(series.state()) : writer->append(series.state()))) return 6;
    const double took = ms_since(start);
    (second == 0 ? first : longest) = second == 0 ? took : std::max(longest, took);
    sum += took;
  }
  std::printf("written: %.2f MiB; first interval %.2f ms, longest other %.2f ms, mean %.3f ms\n",
              static_cast<double>(writer->size_bytes()) / (1 << 20), first, longest,
              sum / static_cast<double>(seconds));
  const Clock::time_point start = Clock::now();
  hawk::Result<hawk::RecordingReader> reader = hawk::RecordingReader::open(argv[1]);
  if (!reader || !reader->read()) return 6;
  const double opened = ms_since(start);
  const std::string report = hawk::render_text(reader->snapshot(), reader->names(), {});
  std::printf("read: %.0f ms, reported: %.0f ms (%zu bytes)\n", opened, ms_since(start), report.size());
  return reader->snapshot() == series.snapshot() ? 0 : 1;
}

// Recordings, which may come from anywhere. The first byte chooses: a whole file, or the bytes of intervals one after
// the other (each with its length in two bytes), which no checksum protects there.
#include <string_view>
#include <tuple>
#include <utility>

#include "tests/fuzz/fuzz_input.h"
#include "userspace/recording/interval_decoder.h"
#include "userspace/recording/recording_reader.h"

namespace {

constexpr std::uint64_t kMaxMemoryBytes = 64 << 20;

/// What lives of a stack, of all ages together, is no more than what lives of it.
void check_ages(const hawk::Snapshot& snapshot) {
  if (!snapshot.ages) return;
  hawk::Counters sum;
  const hawk::AgedBlocks* before = nullptr;
  for (const hawk::AgedBlocks& aged : snapshot.ages->blocks) {
    HAWK_CHECK(before == nullptr || std::tie(before->stack, before->born_ms) < std::tie(aged.stack, aged.born_ms),
               "ages are in order");
    sum += aged.counters();
    before = &aged;
  }
  HAWK_CHECK(sum.allocated_bytes <= snapshot.totals.live_bytes(), "no more lives than what lives");
}

void check_lives(const hawk::Snapshot& snapshot) {
  if (!snapshot.lives) return;
  const hawk::StackLives* before = nullptr;
  for (const hawk::StackLives& lives : *snapshot.lives) {
    HAWK_CHECK(lives.number < hawk::BlockHistograms::kNumbers, "a class that there is not");
    HAWK_CHECK(before == nullptr || std::tie(before->stack, before->number) < std::tie(lives.stack, lives.number),
               "lives are in order");
    before = &lives;
  }
}

void check_snapshot(const hawk::Snapshot& snapshot) {
  check_ages(snapshot);
  check_lives(snapshot);
  HAWK_CHECK(!snapshot.targets.empty(), "a snapshot of nothing");
  hawk::Counters totals;
  const hawk::StackRecord* before = nullptr;
  for (const hawk::StackRecord& stack : snapshot.stacks) {
    HAWK_CHECK(before == nullptr || before->id < stack.id, "stacks are in order");
    HAWK_CHECK(stack.end < HAWK_END_COUNT, "an end that has no name");
    for (const hawk::LocationId frame : stack.frames) {
      HAWK_CHECK(static_cast<std::size_t>(frame) < snapshot.locations.size(), "a frame that is no location");
    }
    totals += stack.counters;
    before = &stack;
  }
  HAWK_CHECK(totals == snapshot.totals, "totals are sums");
  for (const hawk::Location& location : snapshot.locations) {
    HAWK_CHECK(!location.module || static_cast<std::size_t>(*location.module) < snapshot.modules.size(),
               "a location in no module");
  }
}

void read_file(const std::uint8_t* data, std::size_t size) {
  hawk::Result<hawk::RecordingReader> reader =
      hawk::RecordingReader::open(hawk::fuzz::file_of_bytes(data, size), "input", kMaxMemoryBytes);
  if (reader && reader->read()) check_snapshot(reader->snapshot());
}

void read_intervals(std::string_view bytes) {
  std::uint64_t budget = kMaxMemoryBytes;
  hawk::recording::IntervalDecoder decoder(budget);
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1]);
    bytes.remove_prefix(2);
    const std::string_view interval = bytes.substr(0, length);
    bytes.remove_prefix(interval.size());
    (void)hawk::recording::IntervalDecoder::time_of(interval);
    if (decoder.take(interval) != hawk::recording::IntervalDecoder::Outcome::kTaken) return;
    check_snapshot(decoder.snapshot());
    for (const hawk::Location& location : decoder.snapshot().locations) {
      if (location.module) (void)decoder.names().frames(*location.module, location.symbol_offset());
      if (!location.module) (void)decoder.names().frames_in_no_file(location.address);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  if (data[0] == 'F') {
    read_file(data + 1, size - 1);
  } else {
    read_intervals(hawk::fuzz::as_text(data + 1, size - 1));
  }
  return 0;
}

#include "userspace/report/repeated_calls.h"

#include <algorithm>
#include <bitset>

namespace hawk {
namespace {

constexpr std::size_t kMaxPeriod = 32;  // functions of a cycle
constexpr std::size_t kMinSaved = 2;    // lines: a, b, a, b is as easy to read as a note about it

/// False: there is no cycle. Few stacks have one, and this check costs less than the search.
bool may_have_cycle(const std::vector<CallRun>& lines) {
  // Three lines are saved at least, and no two neighbours are folded calls.
  constexpr std::size_t kLeastRepeated = 2;
  std::bitset<1024> seen;
  std::size_t repeated = 0;
  for (const CallRun& line : lines) {
    if (line.is_folded()) continue;
    const std::size_t bit = line.function_number % seen.size();
    if (seen[bit] && ++repeated == kLeastRepeated) return true;
    seen.set(bit);
  }
  return false;
}

/// How many times in succession the `period` lines from `first` on occur.
std::size_t count_rounds(const std::vector<CallRun>& lines, std::size_t first, std::size_t period) {
  std::size_t next = first + period;
  while (next < lines.size() && lines[next - period].is_same_line(lines[next])) ++next;
  return (next - first) / period;
}

/// The shortest cycle that begins at `first`; of period 0 if there is none.
Cycle cycle_at(const std::vector<CallRun>& lines, std::size_t first) {
  if (lines[first].is_folded()) return {};
  const std::size_t longest = std::min(kMaxPeriod, (lines.size() - first) / 2);
  for (std::size_t period = 2; period <= longest; ++period) {
    const std::size_t rounds = count_rounds(lines, first, period);
    if (rounds >= 2 && (rounds - 1) * period > kMinSaved) return {first, period, rounds};
  }
  return {};
}

}  // namespace

std::vector<Cycle> find_cycles(const std::vector<CallRun>& lines) {
  std::vector<Cycle> cycles;
  if (!may_have_cycle(lines)) return cycles;
  for (std::size_t index = 0; index < lines.size();) {
    const Cycle cycle = cycle_at(lines, index);
    if (cycle.period != 0) cycles.push_back(cycle);
    index = cycle.period != 0 ? cycle.end() : index + 1;
  }
  return cycles;
}

}  // namespace hawk

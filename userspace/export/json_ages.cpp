#include "userspace/export/json_ages.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "userspace/export/json_escapes.h"

namespace hawk {
namespace {

struct Held {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;

  void add(const AgedBlocks& aged) {
    bytes += aged.bytes;
    count += aged.count;
  }
};

/// The least age of the class that an age is in.
std::uint64_t class_of(std::uint64_t age_ms) { return age_ms == 0 ? 0 : std::bit_floor(age_ms); }

std::string list(const char* name, const char* key, const std::map<std::uint64_t, Held>& rows) {
  std::string text = fmt::format(R"("{}":[)", name);
  const char* before = "";
  for (const auto& [number, held] : rows) {
    text +=
        fmt::format(R"({}{{"{}":{},"live_bytes":{},"live_count":{}}})", before, key, number, held.bytes, held.count);
    before = ",";
  }
  return text + "],";
}

/// Which live blocks the report is of, and all that are live.
std::string window_json(const AgeNarrowing& narrowing) {
  const AgeWindow& window = narrowing.window;
  std::string text = R"("window":{)";
  const auto add = [&](const char* key, const std::optional<std::uint64_t>& number) {
    if (number) text += fmt::format(R"("{}":{},)", key, *number);
  };
  add("min_age_ms", window.min_age_ms);
  add("max_age_ms", window.max_age_ms);
  add("generation", window.generation);
  return text + fmt::format(R"("all_live_bytes":{},"all_live_count":{}}},)", narrowing.whole.live_bytes(),
                            narrowing.whole.live_count());
}

std::string classes_json(const LiveAges& ages, std::span<const AgedBlocks> blocks) {
  std::map<std::uint64_t, Held> by_age;
  std::map<std::uint64_t, Held> by_generation;
  for (const AgedBlocks& aged : blocks) {
    by_age[class_of(ages.age_ms(aged))].add(aged);
    by_generation[ages.generation_of(aged.born_ms)].add(aged);
  }
  std::string text = list("ages", "min_age_ms", by_age);
  if (!ages.marks_ms.empty()) text += list("generations", "generation", by_generation);
  return text;
}

void append_classes(std::string& text, const char* name, const char* key, std::span<const std::uint64_t> classes) {
  text += fmt::format(R"("{}":[)", name);
  const char* before = "";
  for (std::size_t number = 0; number < classes.size(); ++number) {
    if (classes[number] == 0) continue;
    text += fmt::format(R"({}{{"{}":{},"count":{}}})", before, key, BlockHistograms::least_of(number), classes[number]);
    before = ",";
  }
  text += "]";
}

std::string histograms_json(std::span<const StackLives> lives) {
  BlockHistograms histograms;
  for (const StackLives& own : lives) histograms += own;
  std::string text = R"("histograms":{)";
  append_classes(text, "sizes", "min_bytes", histograms.sizes);
  text += ",";
  append_classes(text, "lifetimes", "min_ms", histograms.lifetimes);
  return text +
         fmt::format(R"(,"temporary":{}}},"freed_by_others":{},)", histograms.temporary, histograms.freed_by_others);
}

/// Those of a stack, of which one is for each target.
template <class Own>
std::span<const Own> of_stack(const std::vector<Own>& all, StackId stack) {
  const auto first =
      std::lower_bound(all.begin(), all.end(), stack, [](const Own& own, StackId id) { return own.stack < id; });
  const auto last = std::find_if(first, all.end(), [&](const Own& own) { return own.stack != stack; });
  return {first, last};
}

std::string name_of(const ThreadShares& threads, const ThreadShare& share) {
  const auto is_before = [](const ThreadName& name, const ThreadShare& of) {
    return std::tie(name.target, name.tid) < std::tie(of.target, of.tid);
  };
  const auto known = std::lower_bound(threads.names.begin(), threads.names.end(), share, is_before);
  const bool is_known = known != threads.names.end() && known->target == share.target && known->tid == share.tid;
  return is_known ? known->name : "";
}

std::string threads_json(const ThreadShares& threads, StackId stack) {
  std::string text = R"("by_thread":[)";
  const char* before = "";
  for (const ThreadShare& share : of_stack(threads.shares, stack)) {
    const Counters& own = share.counters;
    text += fmt::format(R"({}{{"tid":{},"name":)", before, share.tid);
    append_json_text(text, name_of(threads, share));
    text +=
        fmt::format(R"(,"live_bytes":{},"live_count":{},"allocated_bytes":{},"allocated_count":{},"freed_bytes":{},)"
                    R"("freed_count":{},"freed_by_others":{}}})",
                    own.live_bytes(), own.live_count(), own.allocated_bytes, own.allocated_count, own.freed_bytes,
                    own.freed_count, share.freed_by_others);
    before = ",";
  }
  return text + "],";
}

}  // namespace

std::string lives_json(const Snapshot& snapshot) { return snapshot.lives ? histograms_json(*snapshot.lives) : ""; }

std::string lives_json(const Snapshot& snapshot, StackId stack) {
  return (snapshot.lives ? histograms_json(of_stack(*snapshot.lives, stack)) : "") +
         (snapshot.threads ? threads_json(*snapshot.threads, stack) : "");
}

std::string ages_json(const Snapshot& snapshot) {
  if (!snapshot.ages) return {};
  const LiveAges& ages = *snapshot.ages;
  const std::string coarse = ages.age_bits == LiveAges::kExactAges
                                 ? ""
                                 : fmt::format(R"("to_a_part_in":{},)", std::uint64_t{1} << (ages.age_bits - 1));
  return fmt::format(R"("clock_ms":{},"marks_ms":[{}],{}{}{})", ages.now_ms, fmt::join(ages.marks_ms, ","), coarse,
                     classes_json(ages, ages.blocks), snapshot.narrowing ? window_json(*snapshot.narrowing) : "");
}

std::string ages_json(const Snapshot& snapshot, StackId stack) {
  if (!snapshot.ages) return {};
  return classes_json(*snapshot.ages, of_stack(snapshot.ages->blocks, stack));
}

}  // namespace hawk

#include "userspace/tracer/lives_reader.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <thread>

#include "userspace/base/threads.h"
#include "userspace/tables/age_sums.h"

namespace hawk {
namespace {

static_assert(BlockHistograms::kSizes == HAWK_SIZE_CLASSES && BlockHistograms::kLifetimes == HAWK_LIFETIME_CLASSES);
static_assert(BlockHistograms::kNumbers * sizeof(__u64) == sizeof(hawk_stack_lives));
static_assert(BlockHistograms::kTemporaryNumber * sizeof(__u64) == offsetof(hawk_stack_lives, temporary));

/// How many stacks have a number.
std::uint32_t used_stacks(const KernelMaps& maps) {
  return std::min(__atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE), maps.config.max_stacks);
}

/// The target whose running program has the stack; nullptr: none.
const hawk_target* target_of_stack(const KernelMaps& maps, std::uint32_t stack) {
  const std::uint32_t program = maps.stack_records.as<hawk_stack_record>()[stack].program;
  const hawk_target& target = maps.targets[program & HAWK_TARGET_MASK];
  return program != 0 && __atomic_load_n(&target.program, __ATOMIC_ACQUIRE) == program ? &target : nullptr;
}

StackId id_of(const hawk_target& target, std::uint32_t stack) {
  return stack == __atomic_load_n(&target.no_stack, __ATOMIC_ACQUIRE) ? kNoStack : StackId{stack};
}

/// The sums, ascending by stack, and by birth where a stack has several. Stacks have small numbers: they are counted,
/// which takes a fifth of the time that comparing does.
std::vector<AgedBlocks> ascending(const std::vector<AgedBlocks>& sums) {
  std::vector<std::uint32_t> ends;  // by stack: where its sums end, and before they are in place where they begin
  for (const AgedBlocks& sum : sums) {
    const auto next = static_cast<std::size_t>(sum.stack) + 1;
    if (ends.size() <= next) ends.resize(std::max(2 * ends.size(), next + 1));
    ++ends[next];
  }
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<AgedBlocks> sorted(sums.size());
  for (const AgedBlocks& sum : sums) sorted[ends[static_cast<std::size_t>(sum.stack)]++] = sum;
  std::uint32_t first = 0;
  for (const std::uint32_t end : ends) {
    if (end - first > 1) {
      std::sort(sorted.begin() + first, sorted.begin() + end,
                [](const AgedBlocks& a, const AgedBlocks& b) { return a.born_ms < b.born_ms; });
    }
    first = end;
  }
  return sorted;
}

/// Of what ascends by the kernel's numbers of stacks, that without a stack goes to the front, as its id is.
template <class Record>
void put_no_stack_first(std::vector<Record>& records) {
  const auto is_none = [](const Record& record) { return record.stack == kNoStack; };
  const auto first = std::find_if(records.begin(), records.end(), is_none);
  std::rotate(records.begin(), first, std::find_if_not(first, records.end(), is_none));
}

/// `sums`: by the kernel's numbers of stacks.
void add_ages(const AgeSums& sums, const KernelMaps& maps, std::vector<TargetLives>& lives) {
  for (AgedBlocks sum : ascending(sums.sums())) {
    const auto number = static_cast<std::uint32_t>(sum.stack);
    const hawk_target* const target = target_of_stack(maps, number);
    if (target == nullptr) continue;
    sum.stack = id_of(*target, number);
    lives[static_cast<std::size_t>(target - maps.targets.data())].ages.push_back(sum);
  }
  for (TargetLives& of_target : lives) {
    of_target.age_bits = sums.age_bits();
    put_no_stack_first(of_target.ages);
  }
}

/// The numbers of a stack, in the order of BlockHistograms.
std::span<const __u64> words_of(const hawk_stack_lives& lives) {
  return {&lives.sizes[0], sizeof(lives) / sizeof(__u64)};
}

/// Appends what was counted since `before`. Nearly all numbers of a stack are 0: several are asked for that together.
void append(std::vector<StackLives>& lives, StackId stack, const hawk_stack_lives& counted,
            const hawk_stack_lives& before) {
  constexpr std::size_t kTogether = 8;
  const std::span<const __u64> words = words_of(counted);
  const std::span<const __u64> words_before = words_of(before);
  const auto count_of = [&](std::size_t number) {
    return __atomic_load_n(&words[number], __ATOMIC_RELAXED) - words_before[number];
  };
  for (std::size_t first = 0; first < words.size(); first += kTogether) {
    const std::size_t end = std::min(first + kTogether, words.size());
    std::uint64_t any = 0;
    for (std::size_t number = first; number < end; ++number) any |= count_of(number);
    for (std::size_t number = first; any != 0 && number < end; ++number) {
      const std::uint64_t count = count_of(number);
      if (count == 0) continue;
      lives.push_back({.stack = stack, .target = {}, .number = static_cast<std::uint32_t>(number), .count = count});
    }
  }
}

std::vector<hawk_thread_key> named_threads(const KernelMaps& maps) {
  std::vector<hawk_thread_key> threads;
  hawk_thread_key key = {};
  const hawk_thread_key* before = nullptr;
  while (threads.size() < HAWK_MAX_THREAD_NAMES && bpf_map_get_next_key(maps.thread_names_fd, before, &key) == 0) {
    threads.push_back(key);
    before = &key;
  }
  return threads;
}

void add_thread_names(const KernelMaps& maps, std::vector<TargetLives>& lives) {
  for (TargetLives& of_target : lives) of_target.thread_names.emplace();
  for (const hawk_thread_key& key : named_threads(maps)) {
    char name[HAWK_THREAD_NAME_BYTES] = {};
    const std::uint32_t number = key.program & HAWK_TARGET_MASK;
    if (number >= lives.size() || __atomic_load_n(&maps.targets[number].program, __ATOMIC_ACQUIRE) != key.program)
      continue;
    if (bpf_map_lookup_elem(maps.thread_names_fd, &key, name) != 0) continue;
    lives[number].thread_names->push_back(
        {.target = {}, .tid = static_cast<int>(key.thread), .name = std::string(name, ::strnlen(name, sizeof(name)))});
  }
}

}  // namespace

/// With 100,000 stacks the kernel has 56 MB of them: all are read, and what is not 0 is written.
void LivesReader::add_stacks(const KernelMaps& maps, std::vector<TargetLives>& lives) const {
  const std::uint32_t used = used_stacks(maps);
  std::vector<std::size_t> counts(lives.size());
  std::vector<const hawk_target*> targets(used);
  for (std::uint32_t stack = 0; stack < used; ++stack) {
    targets[stack] = target_of_stack(maps, stack);
    if (targets[stack] != nullptr) ++counts[static_cast<std::size_t>(targets[stack] - maps.targets.data())];
  }
  constexpr std::size_t kUsualNumbers = 4;
  for (std::size_t target = 0; target < lives.size(); ++target)
    lives[target].stacks.emplace().reserve(counts[target] * kUsualNumbers);
  static constexpr hawk_stack_lives nothing = {};
  const std::span<const hawk_stack_lives> all = maps.stack_lives.as<hawk_stack_lives>();
  for (std::uint32_t stack = 0; stack < used; ++stack) {
    const hawk_target* const target = targets[stack];
    if (target == nullptr) continue;
    const auto before = before_.find(stack);
    append(*lives[static_cast<std::size_t>(target - maps.targets.data())].stacks, id_of(*target, stack), all[stack],
           before != before_.end() ? before->second : nothing);
  }
  for (TargetLives& of_target : lives) put_no_stack_first(*of_target.stacks);
}

Result<std::vector<TargetLives>> LivesReader::read(const LiveBlocks& blocks, const KernelMaps& maps,
                                                   const BirthCuts& cuts) const {
  std::vector<TargetLives> lives(maps.targets.size());
  bool has_stacks = !maps.counts_lives();
  // Takes as long as the blocks do, and has nothing to do with them.
  std::jthread counting;
  if (!has_stacks) {
    counting = try_thread([&] {
      add_stacks(maps, lives);
      has_stacks = true;
    });
  }
  AgeSums sums(cuts.now_ms, cuts.births_ms);
  sums.reserve(used_stacks(maps));
  HAWK_TRY_VOID(for_each_block(blocks, [&](const LiveBlock& block) {
    sums.add(StackId{block.stack}, hawk_stamp_ms(block.born), block.size_bytes);
  }));
  add_ages(sums, maps, lives);
  if (maps.thread_names_fd >= 0) add_thread_names(maps, lives);
  if (counting.joinable()) counting.join();
  if (!has_stacks) add_stacks(maps, lives);
  return lives;
}

void LivesReader::count_from_zero(const KernelMaps& maps, const std::set<std::uint32_t>& programs) {
  if (programs.empty() || !maps.counts_lives()) return;
  if (maps.thread_names_fd >= 0) {
    for (const hawk_thread_key& key : named_threads(maps)) {
      if (programs.contains(key.program)) bpf_map_delete_elem(maps.thread_names_fd, &key);
    }
  }
  const std::span<const hawk_stack_record> records = maps.stack_records.as<hawk_stack_record>();
  const std::uint32_t used = used_stacks(maps);
  for (std::uint32_t stack = 0; stack < used; ++stack) {
    if (records[stack].program != 0 && programs.contains(records[stack].program))
      before_[stack] = maps.stack_lives.as<hawk_stack_lives>()[stack];
  }
}

}  // namespace hawk

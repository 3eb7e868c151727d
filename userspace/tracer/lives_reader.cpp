#include "userspace/tracer/lives_reader.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "userspace/tables/word_numbers.h"

namespace hawk {
namespace {

static_assert(BlockHistograms::kSizes == HAWK_SIZE_CLASSES && BlockHistograms::kLifetimes == HAWK_LIFETIME_CLASSES);

/// A sum of blocks, by its number.
enum class SumNumber : std::uint32_t {};

/// Live blocks by stack and stamp.
class BlockSums {
 public:
  void add(const LiveBlock& block) {
    const std::uint64_t word = std::uint64_t{block.stack} << HAWK_STAMP_BITS | block.born;
    const SumNumber number = numbers_.find_or_add(word, [&] {
      sums_.push_back({.stack = block.stack, .born = block.born, .held = {}});
      return static_cast<SumNumber>(sums_.size() - 1);
    });
    Pending& held = sums_[static_cast<std::size_t>(number)].held;
    held.bytes += block.size_bytes;
    held.count += 1;
  }

  struct Sum {
    std::uint32_t stack = 0;
    std::uint32_t born = 0;
    Pending held;
  };
  const std::vector<Sum>& sums() const { return sums_; }

 private:
  WordNumbers<SumNumber> numbers_;
  std::vector<Sum> sums_;
};

/// The target whose running program has the stack; nullptr: none.
const hawk_target* target_of_stack(const KernelMaps& maps, std::uint32_t stack) {
  const std::uint32_t program = maps.stack_records.as<hawk_stack_record>()[stack].program;
  const hawk_target& target = maps.targets[program & HAWK_TARGET_MASK];
  return program != 0 && __atomic_load_n(&target.program, __ATOMIC_ACQUIRE) == program ? &target : nullptr;
}

StackId id_of(const hawk_target& target, std::uint32_t stack) {
  return stack == __atomic_load_n(&target.no_stack, __ATOMIC_ACQUIRE) ? kNoStack : StackId{stack};
}

void add_ages(const BlockSums& sums, const KernelMaps& maps, std::vector<TargetLives>& lives) {
  for (const BlockSums::Sum& sum : sums.sums()) {
    const hawk_target* const target = target_of_stack(maps, sum.stack);
    if (target == nullptr) continue;
    lives[static_cast<std::size_t>(target - maps.targets.data())].ages.push_back({.stack = id_of(*target, sum.stack),
                                                                                  .target = {},
                                                                                  .born_ms = hawk_stamp_ms(sum.born),
                                                                                  .bytes = sum.held.bytes,
                                                                                  .count = sum.held.count});
  }
  for (TargetLives& of_target : lives) {
    std::sort(of_target.ages.begin(), of_target.ages.end(), [](const AgedBlocks& a, const AgedBlocks& b) {
      return std::tie(a.stack, a.born_ms) < std::tie(b.stack, b.born_ms);
    });
  }
}

void subtract(StackLives& lives, const hawk_stack_lives& before) {
  for (std::size_t i = 0; i < HAWK_SIZE_CLASSES; ++i) lives.histograms.sizes[i] -= before.sizes[i];
  for (std::size_t i = 0; i < HAWK_LIFETIME_CLASSES; ++i) lives.histograms.lifetimes[i] -= before.lifetimes[i];
  lives.histograms.temporary -= before.temporary;
  lives.freed_by_others -= before.freed_by_others;
}

void copy(const hawk_stack_lives& from, StackLives& to) {
  std::copy(std::begin(from.sizes), std::end(from.sizes), to.histograms.sizes.begin());
  std::copy(std::begin(from.lifetimes), std::end(from.lifetimes), to.histograms.lifetimes.begin());
  to.histograms.temporary = from.temporary;
  to.freed_by_others = from.freed_by_others;
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

/// With 100,000 stacks these are 60 MB: each is written once, where it stays.
void LivesReader::add_stacks(const KernelMaps& maps, std::vector<TargetLives>& lives) const {
  const std::uint32_t used =
      std::min(__atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE), maps.config.max_stacks);
  std::vector<std::vector<std::uint32_t>> numbers(lives.size());
  for (std::uint32_t stack = 0; stack < used; ++stack) {
    const hawk_target* const target = target_of_stack(maps, stack);
    if (target != nullptr) numbers[static_cast<std::size_t>(target - maps.targets.data())].push_back(stack);
  }
  const std::span<const hawk_stack_lives> all = maps.stack_lives.as<hawk_stack_lives>();
  for (std::size_t target = 0; target < lives.size(); ++target) {
    const auto by_id = [&](std::uint32_t a, std::uint32_t b) {
      return id_of(maps.targets[target], a) < id_of(maps.targets[target], b);
    };
    std::sort(numbers[target].begin(), numbers[target].end(), by_id);
    std::vector<StackLives>& stacks = lives[target].stacks.emplace(numbers[target].size());
    for (std::size_t i = 0; i < stacks.size(); ++i) {
      const std::uint32_t number = numbers[target][i];
      stacks[i].stack = id_of(maps.targets[target], number);
      copy(all[number], stacks[i]);
      if (const auto before = before_.find(number); before != before_.end()) subtract(stacks[i], before->second);
    }
  }
}

Result<std::vector<TargetLives>> LivesReader::read(const LiveBlocks& blocks, const KernelMaps& maps) const {
  BlockSums sums;
  HAWK_TRY_VOID(for_each_block(blocks, [&](const LiveBlock& block) { sums.add(block); }));
  std::vector<TargetLives> lives(maps.targets.size());
  add_ages(sums, maps, lives);
  if (maps.thread_names_fd >= 0) add_thread_names(maps, lives);
  if (maps.counts_lives()) add_stacks(maps, lives);
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
  const std::uint32_t used =
      std::min(__atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE), maps.config.max_stacks);
  for (std::uint32_t stack = 0; stack < used; ++stack) {
    if (records[stack].program != 0 && programs.contains(records[stack].program))
      before_[stack] = maps.stack_lives.as<hawk_stack_lives>()[stack];
  }
}

}  // namespace hawk

#include "userspace/tracer/code_tables.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "bpf/arch/x86_64/registers.h"
#include "bpf/unwind/rule_cache.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

constexpr std::size_t kSegmentBytes = HAWK_SEGMENT_ROWS * sizeof(hawk_row);
/// Long before the kernel would no longer use the cache.
constexpr std::uint32_t kGenerationsUntilCleared = HAWK_CACHE_GENERATIONS / 4;

}  // namespace

CodeTables::~CodeTables() {
  for (const Segment& segment : segments_) ::munmap(segment.rows, kSegmentBytes);
}

std::vector<int> CodeTables::map_fds() const {
  std::vector<int> fds;
  fds.reserve(segments_.size());
  for (const Segment& segment : segments_) fds.push_back(segment.fd.get());
  return fds;
}

Result<void> CodeTables::add_segment() {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
  Segment segment;
  segment.fd = UniqueFd(
      bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_rows", sizeof(__u32), sizeof(hawk_row), HAWK_SEGMENT_ROWS, &options));
  if (!segment.fd) return system_failure(ExitCode::kPrivilege, "make a table of unwind rows", errno);
  void* mapped = ::mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.fd.get(), 0);
  if (mapped == MAP_FAILED) {
    return system_failure(ExitCode::kPrivilege, "map a table of unwind rows", errno);
  }
  segment.rows = static_cast<hawk_row*>(mapped);
  segments_.push_back(std::move(segment));
  return {};
}

Result<void> CodeTables::hand_over_segments(std::size_t first) {
  std::vector<__u32> numbers, fds;
  for (std::size_t i = first; i < segments_.size(); ++i) {
    numbers.push_back(static_cast<__u32>(i));
    fds.push_back(static_cast<__u32>(segments_[i].fd.get()));
  }
  __u32 count = static_cast<__u32>(numbers.size());
  LIBBPF_OPTS(bpf_map_batch_opts, options);
  if (bpf_map_update_batch(memory_.segments_fd, numbers.data(), fds.data(), &count, &options) == 0) return {};
  return system_failure(ExitCode::kPrivilege, "add a table of unwind rows", errno);
}

void CodeTables::drop_segments(std::size_t first) {
  for (std::size_t i = first; i < segments_.size(); ++i) ::munmap(segments_[i].rows, kSegmentBytes);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(first), segments_.end());
}

Result<void> CodeTables::reserve_rows(std::uint64_t rows) {
  const std::uint64_t all = std::min<std::uint64_t>(row_count_ + rows, HAWK_MAX_ROWS);
  return make_segments((all + HAWK_SEGMENT_ROWS - 1) >> HAWK_SEGMENT_SHIFT);
}

/// Until there are so many.
Result<void> CodeTables::make_segments(std::size_t count) {
  const std::size_t first = segments_.size();
  Result<void> made;
  while (made && segments_.size() < count) made = add_segment();
  if (made && segments_.size() > first) made = hand_over_segments(first);
  if (!made) drop_segments(first);
  return made;
}

bool CodeTables::in_segments(std::uint64_t first, std::span<const hawk_row> rows,
                             const std::function<bool(hawk_row* stored, std::span<const hawk_row> rows)>& use) {
  while (!rows.empty()) {
    const std::size_t segment = first >> HAWK_SEGMENT_SHIFT, inside = first & (HAWK_SEGMENT_ROWS - 1);
    const std::size_t count = std::min<std::size_t>(rows.size(), HAWK_SEGMENT_ROWS - inside);
    if (!use(segments_[segment].rows + inside, rows.first(count))) return false;
    first += count;
    rows = rows.subspan(count);
  }
  return true;
}

std::optional<std::uint32_t> CodeTables::find_rows(std::size_t hash, std::span<const hawk_row> rows) {
  const auto [first, last] = rows_by_hash_.equal_range(hash);
  const auto found = std::find_if(first, last, [&](const auto& stored) {
    return stored.second.count == rows.size() &&
           in_segments(stored.second.first, rows, [](const hawk_row* kept, std::span<const hawk_row> some) {
             return std::memcmp(kept, some.data(), some.size_bytes()) == 0;
           });
  });
  return found != last ? std::optional(found->second.first) : std::nullopt;
}

Result<std::optional<AddedRows>> CodeTables::add_rows(std::span<const hawk_row> rows) {
  const auto* const bytes = reinterpret_cast<const char*>(rows.data());
  const std::size_t hash = std::hash<std::string_view>()({bytes, rows.size_bytes()});
  if (const std::optional<std::uint32_t> known = find_rows(hash, rows)) return AddedRows{.first = *known};
  const std::optional<std::size_t> taken = row_pool_.take(rows.size());
  if (!taken) return std::optional<AddedRows>();
  const auto first = static_cast<std::uint32_t>(*taken);
  const Result<void> made = make_segments((first + rows.size() + HAWK_SEGMENT_ROWS - 1) >> HAWK_SEGMENT_SHIFT);
  if (!made) {
    row_pool_.give_back(first, rows.size());
    return tl::unexpected<Error>(made.error());
  }
  in_segments(first, rows, [](hawk_row* stored, std::span<const hawk_row> some) {
    std::memcpy(stored, some.data(), some.size_bytes());
    return true;
  });
  row_count_ += rows.size();
  rows_by_hash_.emplace(hash, StoredRows{.first = first, .count = static_cast<std::uint32_t>(rows.size())});
  return AddedRows{.first = first, .is_new = true};
}

void CodeTables::remove_rows(std::uint32_t first) {
  const auto removed = std::find_if(rows_by_hash_.begin(), rows_by_hash_.end(),
                                    [first](const auto& stored) { return stored.second.first == first; });
  if (removed == rows_by_hash_.end()) return;
  row_pool_.give_back(first, removed->second.count);
  row_count_ -= removed->second.count;
  rows_by_hash_.erase(removed);
}

/// Those that have not changed may be read at this moment.
void CodeTables::set_rules(std::span<const hawk_rule> rules) {
  const std::span<hawk_rule> all = memory_.rules.first(rules.size());
  for (std::size_t number = 0; number < all.size(); ++number) {
    const hawk_rule rule = hawk_prepared_rule(rules[number]);
    hawk_rule& stored = all[number];
    if (std::memcmp(&stored, &rule, sizeof(rule)) != 0) stored = rule;
  }
}

void CodeTables::add_file_part(const hawk_file_part& part, hawk_code_range code) {
  code.search_step = std::bit_floor(code.row_count);
  // What was there before may lead to rows that are about to be given up.
  if (bpf_map_update_elem(memory_.known_files_fd, &part, &code, BPF_ANY) != 0) remove_file_part(part);
}

void CodeTables::remove_file_part(const hawk_file_part& part) { bpf_map_delete_elem(memory_.known_files_fd, &part); }

void CodeTables::clear_cache_in_time() {
  hawk_state& state = *memory_.state;
  const std::uint32_t generation = __atomic_load_n(&state.rule_generations, __ATOMIC_SEQ_CST);
  if (generation - state.cache_cleared < kGenerationsUntilCleared) return;
  for (__u64& entry : memory_.cache.all()) __atomic_store_n(&entry, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&state.cache_cleared, generation, __ATOMIC_SEQ_CST);
}

void CodeTables::set_ranges(hawk_target& target, PooledArea& area, std::span<const hawk_code_range> ranges) {
  const std::size_t wanted = std::min<std::size_t>(ranges.size(), HAWK_MAX_CODE_RANGES);
  const std::size_t count = spare_.require(wanted) ? wanted : 0;
  const std::size_t first = spare_.first();
  __atomic_store_n(&target.code_ranges_stale, 0, __ATOMIC_SEQ_CST);
  const std::span<hawk_code_range> all = memory_.ranges.first(first + count);
  const std::span<hawk_range_state> states = memory_.range_states.first(first + count);
  for (std::size_t i = 0; i < count; ++i) {
    all[first + i] = ranges[i];
    all[first + i].search_step = std::bit_floor(ranges[i].row_count);
    states[first + i] = {};
  }
  const __u32 publication = __atomic_add_fetch(&memory_.state->publications, 1, __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.code_ranges,
                   hawk_ranges_word(publication, static_cast<__u32>(first), static_cast<__u32>(count)),
                   __ATOMIC_SEQ_CST);
  // A program that still reads ranges while those of another target are written over them detects that the word has
  // changed before it relies on them.
  std::swap(area, spare_);
  clear_cache_in_time();
}

}  // namespace hawk

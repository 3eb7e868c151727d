#include "tests/unwinding/corruption.h"

#include <algorithm>
#include <cstring>

#include "bpf/unwind/ends.h"

namespace hawk {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t load(const DamagedDump& damaged, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, damaged.bytes.data() + offset, kWord);
  return word;
}

void store(DamagedDump& damaged, std::size_t offset, std::uint64_t word) {
  std::memcpy(damaged.bytes.data() + offset, &word, kWord);
}

/// The stack below the outermost word that the walk reads.
std::size_t walked_bytes(const DamagedDump& damaged, const HostWalk& walk) {
  std::uint64_t furthest = damaged.dump.memory.start + kWord;
  for (const std::uint64_t address : walk.reads) furthest = std::max(furthest, address + kWord);
  return std::min<std::size_t>(furthest - damaged.dump.memory.start, damaged.bytes.size() / kWord * kWord);
}

}  // namespace

std::uint64_t Corruption::code_address(const HostTables& tables) {
  const hawk_code_range& range = tables.ranges[below(tables.ranges.size())];
  return range.start + below(range.end - range.start);
}

std::size_t Corruption::any_offset(const DamagedDump& damaged, const HostWalk& walk) {
  if (!walk.reads.empty() && below(4) != 0) {
    const std::uint64_t offset = walk.reads[below(walk.reads.size())] - damaged.dump.memory.start;
    if (offset <= damaged.bytes.size() - kWord) return offset;
  }
  return below(walked_bytes(damaged, walk) / kWord) * kWord;
}

std::uint64_t Corruption::any_word(const DamagedDump& damaged, const HostWalk& walk, const HostTables& tables) {
  switch (below(6)) {
    case 0:
      return 0;
    case 1:
      return random_();
    case 2:
      return code_address(tables);
    case 3:
      return walk.frames[below(walk.frames.size())] & ~HAWK_FRAME_INTERRUPTED;
    case 4:
      return damaged.dump.memory.start + below(damaged.bytes.size() / kWord) * kWord;
    default:
      return load(damaged, any_offset(damaged, walk));
  }
}

void Corruption::damage_word(DamagedDump& damaged, const HostWalk& walk, const HostTables& tables) {
  const std::size_t offset = any_offset(damaged, walk);
  const bool flips = below(3) == 0;
  store(damaged, offset,
        flips ? load(damaged, offset) ^ std::uint64_t{1} << below(64) : any_word(damaged, walk, tables));
}

void Corruption::damage_registers(DamagedDump& damaged, const HostWalk& walk) {
  hawk_dump_stack& registers = damaged.dump.registers;
  const std::uint64_t in_stack = damaged.dump.memory.start + any_offset(damaged, walk);
  switch (below(5)) {
    case 0:
      registers.rbp = in_stack;
      break;
    case 1:
      registers.rbp = random_();
      break;
    case 2:
      registers.rbp ^= std::uint64_t{1} << below(64);
      break;
    case 3:
      registers.stack_pointer = in_stack;
      break;
    default:
      registers.stack_pointer += kWord * (1 + below(8));
  }
}

void Corruption::damage_part(DamagedDump& damaged, const HostWalk& walk, const HostTables& tables) {
  const std::size_t start = any_offset(damaged, walk) / kWord * kWord;
  const std::size_t end = start + kWord * below((damaged.bytes.size() - start) / kWord);
  if (below(2) == 0) {
    const std::size_t shift = std::min<std::size_t>(kWord * (1 + below(4)), end - start);
    std::memmove(damaged.bytes.data() + start, damaged.bytes.data() + start + shift, end - start - shift);
    return;
  }
  const std::uint64_t word = any_word(damaged, walk, tables);
  for (std::size_t at = start; at < end; at += kWord) store(damaged, at, word);
}

DamagedDump Corruption::damage(const StackDump& dump, const HostWalk& walk, const HostTables& tables) {
  DamagedDump damaged{.bytes = {dump.memory.bytes.begin(), dump.memory.bytes.end()}, .dump = dump};
  for (std::uint64_t times = 1 + below(3); times > 0; --times) {
    switch (below(6)) {
      case 0:
        damage_registers(damaged, walk);
        break;
      case 1:
        damage_part(damaged, walk, tables);
        break;
      default:
        damage_word(damaged, walk, tables);
    }
  }
  damaged.dump.memory.bytes = damaged.bytes;
  return damaged;
}

}  // namespace hawk

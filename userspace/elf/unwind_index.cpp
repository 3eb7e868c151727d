/// .eh_frame_hdr, a sorted table of functions, and the records of .eh_frame that it leads to (Linux Standard Base,
/// Core, "Exception Frames"). A function that handles exceptions names a personality routine and a table of its own in
/// the augmentation string of its CIE: 'P' and 'L'. Compilers write that for all parts of a split function or for none.
#include "userspace/elf/unwind_index.h"

#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "userspace/elf/byte_view.h"

namespace hawk {
namespace {

/// Version 1; the address of .eh_frame relative to its own, 32 bits; a count of 32 bits; a table of 32-bit offsets from
/// the header. No linker writes another.
constexpr std::array<std::uint8_t, 4> kKnownHeader = {1, 0x1b, 0x03, 0x3b};
constexpr std::uint64_t kTableAt = 12;

struct Entry {
  std::int32_t function;
  std::int32_t record;
};

template <class T>
std::optional<T> read_value(const ElfSegments& segments, std::uint64_t vaddr) {
  T value;
  if (segments.read(vaddr, bytes_of(std::span(&value, 1))) != sizeof(value)) return std::nullopt;
  return value;
}

/// Where the record of the function that begins at `function_vaddr` is.
std::optional<std::uint64_t> find_record(const ElfSegments& segments, std::uint64_t index_vaddr,
                                         std::uint64_t function_vaddr) {
  const std::optional<std::array<std::uint8_t, 4>> header =
      read_value<std::array<std::uint8_t, 4>>(segments, index_vaddr);
  const std::optional<std::uint32_t> count = read_value<std::uint32_t>(segments, index_vaddr + 8);
  if (!header || *header != kKnownHeader || !count) return std::nullopt;
  const auto wanted = static_cast<std::int64_t>(function_vaddr - index_vaddr);
  std::uint64_t low = 0, high = *count;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const std::optional<Entry> entry = read_value<Entry>(segments, index_vaddr + kTableAt + middle * sizeof(Entry));
    if (!entry) return std::nullopt;
    if (entry->function == wanted) return index_vaddr + static_cast<std::uint64_t>(std::int64_t{entry->record});
    if (entry->function < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

}  // namespace

bool handles_no_exceptions(const ElfSegments& segments, std::uint64_t index_vaddr, std::uint64_t function_vaddr) {
  struct Head {
    std::uint32_t bytes;
    std::uint32_t id;  ///< of a function's record: how far back its CIE is, from here; of a CIE: 0
  };
  const std::optional<std::uint64_t> record = find_record(segments, index_vaddr, function_vaddr);
  if (!record) return false;
  const std::optional<Head> function = read_value<Head>(segments, *record);
  if (!function || function->bytes == UINT32_MAX || function->id == 0) return false;
  const std::uint64_t cie_vaddr = *record + offsetof(Head, id) - function->id;
  const std::optional<Head> cie = read_value<Head>(segments, cie_vaddr);
  if (!cie || cie->bytes == UINT32_MAX || cie->id != 0) return false;
  constexpr std::array<char, 4> kNone = {1, 'z', 'R', 0};  // the version and the string
  return read_value<std::array<char, 4>>(segments, cie_vaddr + sizeof(Head)) == kNone;
}

std::optional<std::uint64_t> eh_frame_vaddr(const ElfSegments& segments, std::uint64_t index_vaddr) {
  constexpr std::uint64_t kPointerAt = 4;
  const auto head = read_value<std::array<std::uint8_t, kPointerAt>>(segments, index_vaddr);
  const std::optional<std::int32_t> distance = read_value<std::int32_t>(segments, index_vaddr + kPointerAt);
  // The rest of the header describes its table, which is not needed here.
  if (!head || !distance || (*head)[0] != kKnownHeader[0] || (*head)[1] != kKnownHeader[1]) return std::nullopt;
  return index_vaddr + kPointerAt + static_cast<std::uint64_t>(std::int64_t{*distance});
}

}  // namespace hawk

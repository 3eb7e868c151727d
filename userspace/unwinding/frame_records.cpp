#include "userspace/unwinding/frame_records.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "userspace/base/byte_cursor.h"
#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/call_frame_codes.h"
#include "userspace/unwinding/pointer_encoding.h"

namespace hawk {
namespace {

/// Chrome and ClickHouse, the largest programs known, have a million functions; every object file may leave a CIE.
constexpr std::size_t kMaxFunctions = 1u << 22;
constexpr std::size_t kMaxCommons = 1u << 18;
/// In the place of a length: the length follows with 64 bits.

/// A record of either kind; the cursor is after its id.
struct Record {
  ByteCursor body;
  std::uint64_t section_offset = 0;
  bool is_common = false;
  std::uint64_t common_offset = 0;  ///< of a function: section offset of what it refers to
};

class RecordReader {
 public:
  explicit RecordReader(const UnwindSection& section) : section_(section), cursor_(section.bytes) {}

  /// nullopt at the end, and at a record that is larger than what is left.
  std::optional<Record> next() {
    while (cursor_.ok() && !cursor_.at_end()) {
      const std::uint64_t at = offset_of(cursor_);
      bool is_long = false;
      const std::uint64_t length = cursor_.initial_length(is_long);
      // A terminator or padding. Where a section is known by its header, more may follow.
      const bool is_terminator = length == 0 && !is_long;
      if (is_terminator && (!section_.ends_at_zero || section_.is_debug_frame)) continue;
      if (is_terminator) return std::nullopt;
      ByteCursor body(cursor_.take(length));
      if (!cursor_.ok()) return std::nullopt;
      if (const std::optional<Record> record = with_id(body, at, is_long)) return record;
    }
    return std::nullopt;
  }

  bool is_damaged() const { return !cursor_.ok(); }
  std::uint64_t offset_of(const ByteCursor& cursor) const {
    return static_cast<std::uint64_t>(cursor.next() - section_.bytes.data());
  }

 private:
  /// .eh_frame has ids of 32 bits in long records too: 0, or how far back the CIE is. .debug_frame: all bits set, or
  /// the CIE's section offset.
  std::optional<Record> with_id(ByteCursor body, std::uint64_t at, bool is_long) const {
    const std::uint64_t id_at = offset_of(body);
    Record record;
    record.section_offset = at;
    if (section_.is_debug_frame && is_long) {
      record.common_offset = body.number<std::uint64_t>();
      record.is_common = record.common_offset == UINT64_MAX;
    } else if (section_.is_debug_frame) {
      record.common_offset = body.number<std::uint32_t>();
      record.is_common = record.common_offset == UINT32_MAX;
    } else {
      const auto distance = body.number<std::uint32_t>();
      record.common_offset = id_at - distance;
      record.is_common = distance == 0;
    }
    record.body = body;
    return record;
  }

  const UnwindSection& section_;
  ByteCursor cursor_;
};

class RecordParser {
 public:
  RecordParser(const UnwindSection& section, UnsupportedCounts& unsupported)
      : section_(section), unsupported_(unsupported) {}

  FrameRecords parse() {
    RecordReader commons(section_);
    while (const std::optional<Record> record = commons.next()) {
      if (record->is_common && records_.commons.size() < kMaxCommons) records_.commons.push_back(common(*record));
    }
    if (commons.is_damaged()) unsupported_.add(Unsupported::kDamagedRecord);
    RecordReader functions(section_);
    while (const std::optional<Record> record = functions.next()) {
      if (!record->is_common) add_function(*record);
    }
    return std::move(records_);
  }

 private:
  CommonRecord common(const Record& record);
  void read_augmentation(ByteCursor& cursor, std::string_view letters, CommonRecord& found) const;
  void add_function(const Record& record);
  const CommonRecord* find_common(std::uint64_t section_offset);
  std::uint64_t vaddr_at(const ByteCursor& cursor) const {
    return section_.vaddr + static_cast<std::uint64_t>(cursor.next() - section_.bytes.data());
  }

  const UnwindSection& section_;
  UnsupportedCounts& unsupported_;
  FrameRecords records_;
  std::size_t last_common_ = 0;
};

CommonRecord RecordParser::common(const Record& record) {
  ByteCursor cursor = record.body;
  CommonRecord found;
  found.section_offset = record.section_offset;
  const std::uint8_t version = cursor.byte();
  const std::string_view letters = cursor.text();
  if (version != 1 && version != 3 && version != 4) {
    found.flaw = Unsupported::kVersion;
    return found;
  }
  if (version == 4) {
    const std::uint8_t address_bytes = cursor.byte(), segment_bytes = cursor.byte();
    if (address_bytes != arch::kAddressBytes || segment_bytes != 0) found.flaw = Unsupported::kAddressSize;
  }
  found.code_alignment = cursor.uleb();
  found.data_alignment = cursor.sleb();
  found.return_address_column = version == 1 ? cursor.byte() : cursor.uleb();
  read_augmentation(cursor, letters, found);
  found.instructions = cursor.rest();
  if (!cursor.ok()) found.flaw = Unsupported::kDamagedRecord;
  return found;
}

void RecordParser::read_augmentation(ByteCursor& cursor, std::string_view letters, CommonRecord& found) const {
  if (letters.empty()) return;
  // Without z it is not known how much to pass over.
  if (letters[0] != 'z') {
    found.flaw = Unsupported::kAugmentation;
    return;
  }
  found.has_augmentation_data = true;
  ByteCursor data(cursor.block());
  for (const char letter : letters.substr(1)) {
    if (letter == 'R') {
      found.pointer_encoding = data.byte();
      if (!is_readable_pointer(found.pointer_encoding)) found.flaw = Unsupported::kPointerEncoding;
    } else if (letter == 'P') {
      const std::uint8_t encoding = data.byte();
      skip_pointer(data, encoding, vaddr_at(data));
    } else if (letter == 'L') {
      data.byte();
    } else if (letter == 'S') {
      found.is_signal_frame = true;
    } else if (letter != 'B') {
      found.flaw = Unsupported::kAugmentation;
      return;
    }
  }
  if (!data.ok()) found.flaw = Unsupported::kDamagedRecord;
}

/// Only what was met as a record of its own: overlapping ones would be read again and again.
const CommonRecord* RecordParser::find_common(std::uint64_t section_offset) {
  const std::vector<CommonRecord>& commons = records_.commons;
  if (last_common_ < commons.size() && commons[last_common_].section_offset == section_offset) {
    return &commons[last_common_];
  }
  const auto found =
      std::lower_bound(commons.begin(), commons.end(), section_offset,
                       [](const CommonRecord& common, std::uint64_t wanted) { return common.section_offset < wanted; });
  if (found == commons.end() || found->section_offset != section_offset) return nullptr;
  last_common_ = static_cast<std::size_t>(found - commons.begin());
  return &*found;
}

void RecordParser::add_function(const Record& record) {
  const CommonRecord* common = find_common(record.common_offset);
  if (common == nullptr || common->flaw != Unsupported::kNothing) {
    return unsupported_.add(common == nullptr ? Unsupported::kDamagedRecord : common->flaw);
  }
  ByteCursor cursor = record.body;
  FunctionRecord function;
  function.begin = read_pointer(cursor, common->pointer_encoding, vaddr_at(cursor));
  function.bytes = read_pointer_sized_count(cursor, common->pointer_encoding);
  if (common->has_augmentation_data) cursor.block();
  const std::span<const std::uint8_t> instructions = cursor.rest();
  if (!cursor.ok()) return unsupported_.add(Unsupported::kDamagedRecord);
  if (function.begin == 0 || function.bytes == 0) return;
  if (function.bytes > std::numeric_limits<std::uint64_t>::max() - function.begin) {
    return unsupported_.add(Unsupported::kDamagedRecord);
  }
  if (records_.functions.size() >= kMaxFunctions) return unsupported_.add(Unsupported::kTooManyRecords);
  function.common = static_cast<std::uint32_t>(common - records_.commons.data());
  function.instructions_at = static_cast<std::uint32_t>(instructions.data() - section_.bytes.data());
  function.instruction_bytes = static_cast<std::uint32_t>(instructions.size());
  records_.functions.push_back(function);
}

}  // namespace

FrameRecords read_frame_records(const UnwindSection& section, UnsupportedCounts& unsupported) {
  return RecordParser(section, unsupported).parse();
}

}  // namespace hawk

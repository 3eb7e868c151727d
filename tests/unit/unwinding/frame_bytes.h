#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/unwinding/unwind_section.h"

namespace hawk::testing {

using Bytes = std::vector<std::uint8_t>;

/// Several pieces, one after the other.
Bytes joined(std::initializer_list<Bytes> pieces);
void append(Bytes& bytes, const Bytes& more);
Bytes little_endian(std::uint64_t value, int bytes);
Bytes uleb(std::uint64_t value);
Bytes sleb(std::int64_t value);
/// An instruction followed by an expression.
Bytes with_block(Bytes instruction, const Bytes& expression);

/// What a function's record says besides its instructions.
struct CommonBytes {
  std::uint8_t version = 1;
  std::string augmentation = "zR";
  /// Behind the length of the augmentation data: one encoding by default, pcrel|sdata4.
  Bytes augmentation_data = {0x1b};
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = -8;
  std::uint64_t return_address_column = 16;
  /// CFA = rsp + 8, return address at CFA - 8: what a call leaves.
  Bytes instructions = {0x0c, 7, 8, 0x80 | 16, 1};
};

/// Assembles sections by hand.
class FrameBytes {
 public:
  static constexpr std::uint64_t kVaddr = 0x100000;

  explicit FrameBytes(bool is_debug_frame = false) : is_debug_frame_(is_debug_frame) {}

  /// Returns its section offset, for functions to refer to.
  std::uint64_t add_common(const CommonBytes& common = {}, bool is_long = false);
  /// With begin and size as pcrel|sdata4, or in .debug_frame as 64-bit numbers.
  void add_function(std::uint64_t common, std::uint64_t begin, std::uint64_t bytes, const Bytes& instructions = {},
                    bool is_long = false);
  /// With begin, size and augmentation data in any form, and where begin will stand.
  void add_raw_function(std::uint64_t common, const Bytes& body, bool is_long = false);
  /// The address of the next function's begin.
  std::uint64_t next_begin_vaddr() const { return kVaddr + bytes_.size() + 8; }
  void add_raw(const Bytes& bytes) { append(bytes_, bytes); }

  const Bytes& bytes() const { return bytes_; }
  UnwindSection section() const { return {bytes_, kVaddr, is_debug_frame_, false}; }

 private:
  void add_record(std::uint64_t id, const Bytes& body, bool is_long);

  bool is_debug_frame_;
  Bytes bytes_;
};

/// Each as "0x10 cfa=rsp+16 rbp=same"; the offset counts from the table's base.
using Rows = std::vector<std::string>;
/// The rule that a call leaves.
inline constexpr const char* kCalled = "cfa=rsp+8 rbp=same";

Rows rows_of(const UnwindTable& table, const RuleSet& rules);
Rows rows_of(const FrameBytes& bytes);
/// Rows of one function of 0x100 bytes.
Rows rows_of_function(const Bytes& instructions, const CommonBytes& common = {});
/// The last row's rule, before the end.
std::string rule_after(const Bytes& instructions, const CommonBytes& common = {});
UnwindTable table_of(const FrameBytes& bytes);

}  // namespace hawk::testing

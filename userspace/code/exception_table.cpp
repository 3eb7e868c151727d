/// LSB Core, "Exception Frames". The data that a function's record leads to is written in one form by GCC and LLVM for
/// C, C++, Rust and Ada alike: a table of ranges of code, each with where its exceptions are handled.
#include "userspace/code/exception_table.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "userspace/base/byte_cursor.h"
#include "userspace/unwinding/pointer_encoding.h"

namespace hawk {
namespace {

constexpr std::uint8_t kOmitted = 0xff;
/// Of one function; a longer table is taken for damaged.
constexpr std::uint64_t kMaxHandlerBytes = 64 << 10;
/// DW_CFA_GNU_args_size: the unwinder adds to rsp on the way to a handler.
constexpr std::uint8_t kArgumentsSize = 0x2e;

/// What a CIE says of its functions' records.
struct Common {
  bool is_understood = false;
  bool has_data = false;
  std::uint8_t pointers = 0;
  std::uint8_t handlers = kOmitted;  ///< how the address of the data is written
};

struct FunctionRecord {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t handlers_vaddr = 0;
  bool is_understood = false;
};

class Section {
 public:
  explicit Section(const CallFrameSection& section) : section_(section) {}

  /// nullopt: it is no function's. `is_whole` becomes false where the code that a record is about is not known.
  std::optional<FunctionRecord> function_in(ByteCursor body, bool& is_whole) {
    const std::uint64_t id_at = vaddr_at(body) - section_.vaddr;
    const auto distance = body.number<std::uint32_t>();
    if (distance == 0) return std::nullopt;
    const Common common = common_at(id_at - distance);
    is_whole = is_readable_pointer(common.pointers);
    if (!is_whole) return std::nullopt;
    FunctionRecord function;
    function.begin = read_pointer(body, common.pointers, vaddr_at(body));
    function.end = function.begin + read_pointer_sized_count(body, common.pointers);
    ByteCursor data(common.has_data ? body.block() : Bytes());
    // It is written relative to its own place, but as 0 where there is none.
    const Bytes written(data.next(), std::min<std::size_t>(data.left(), sizeof(std::uint32_t)));
    const bool has_handlers = common.handlers != kOmitted &&
                              std::any_of(written.begin(), written.end(), [](std::uint8_t byte) { return byte != 0; });
    if (has_handlers) function.handlers_vaddr = read_pointer(data, common.handlers, vaddr_at(data));
    const Bytes instructions = body.rest();
    const bool moves_stack = std::find(instructions.begin(), instructions.end(), kArgumentsSize) != instructions.end();
    function.is_understood = common.is_understood && data.ok() && !(has_handlers && moves_stack);
    is_whole = body.ok();
    return function;
  }

 private:
  std::uint64_t vaddr_at(const ByteCursor& cursor) const {
    return section_.vaddr + static_cast<std::uint64_t>(cursor.next() - section_.bytes.data());
  }

  Common common_at(std::uint64_t offset) {
    const auto [known, is_new] = commons_.emplace(offset, Common());
    if (is_new) known->second = read_common(offset);
    return known->second;
  }

  Common read_common(std::uint64_t offset) const {
    ByteCursor length(part_of(section_.bytes, offset));
    bool is_long = false;
    ByteCursor cursor(length.take(length.initial_length(is_long)));
    Common found;
    const bool is_common = cursor.number<std::uint32_t>() == 0, is_first_version = cursor.byte() == 1;
    const std::string_view letters = cursor.text();
    cursor.uleb();
    cursor.sleb();
    cursor.byte();  // the column of the return address
    if (!is_common || !is_first_version || !letters.starts_with('z')) return found;
    found.has_data = true;
    ByteCursor data(cursor.block());
    for (const char letter : letters.substr(1)) {
      if (letter == 'R') {
        found.pointers = data.byte();
      } else if (letter == 'P') {
        const std::uint8_t encoding = data.byte();
        skip_pointer(data, encoding, vaddr_at(data));
      } else if (letter == 'L') {
        found.handlers = data.byte();
      } else if (letter != 'S' && letter != 'B') {
        return found;
      }
    }
    const bool can_read_handlers = found.handlers == kOmitted || is_readable_pointer(found.handlers);
    found.is_understood = cursor.ok() && data.ok() && is_readable_pointer(found.pointers) && can_read_handlers;
    return found;
  }

  const CallFrameSection& section_;
  std::map<std::uint64_t, Common> commons_;
};

}  // namespace

void ExceptionTable::read() {
  if (std::exchange(is_read_, true)) return;
  const std::optional<CallFrameSection> section = image_.eh_frame();
  is_whole_ = section ? !section->is_too_large : image_.has_sections();
  if (!section || !is_whole_) return;
  Section records(*section);
  ByteCursor cursor(section->bytes);
  while (cursor.ok() && !cursor.at_end() && is_whole_) {
    bool is_long = false;
    const std::uint64_t length = cursor.initial_length(is_long);
    const bool is_terminator = length == 0 && !is_long;
    if (is_terminator && section->ends_at_zero) break;
    if (is_terminator) continue;
    const std::optional<FunctionRecord> record = records.function_in(ByteCursor(cursor.take(length)), is_whole_);
    if (record) functions_.push_back({record->begin, record->end, record->handlers_vaddr, record->is_understood});
  }
  is_whole_ = is_whole_ && cursor.ok();
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& a, const Function& b) { return a.begin < b.begin; });
}

ExceptionTable::Way ExceptionTable::way_of(std::uint64_t return_vaddr) {
  read();
  // The call itself: what it returns to may belong to another range.
  const std::uint64_t vaddr = return_vaddr - 1;
  if (!is_whole_) return {.goes = Goes::kUnknown, .vaddr = 0};
  const Function* function = function_at(vaddr);
  if (function == nullptr) return {.goes = Goes::kOut, .vaddr = 0};
  if (!function->is_understood) return {.goes = Goes::kUnknown, .vaddr = 0};
  if (function->handlers_vaddr == 0) return {.goes = Goes::kOut, .vaddr = 0};
  return find_handler(*function, vaddr);
}

std::optional<std::uint64_t> ExceptionTable::begin_of(std::uint64_t vaddr) {
  read();
  const Function* function = function_at(vaddr);
  return function == nullptr ? std::nullopt : std::optional(function->begin);
}

std::optional<std::uint64_t> ExceptionTable::bytes_from(std::uint64_t vaddr) {
  read();
  const Function* function = function_at(vaddr);
  const bool begins_there = function != nullptr && function->begin == vaddr;
  return begins_there ? std::optional(function->end - vaddr) : std::nullopt;
}

const ExceptionTable::Function* ExceptionTable::function_at(std::uint64_t vaddr) const {
  const auto next =
      std::upper_bound(functions_.begin(), functions_.end(), vaddr,
                       [](std::uint64_t wanted, const Function& function) { return wanted < function.begin; });
  if (next == functions_.begin() || vaddr >= std::prev(next)->end) return nullptr;
  return &*std::prev(next);
}

ExceptionTable::Way ExceptionTable::find_handler(const Function& function, std::uint64_t vaddr) const {
  const Way unknown = {.goes = Goes::kUnknown, .vaddr = 0};
  const std::vector<std::uint8_t> bytes = image_.bytes_at(function.handlers_vaddr, kMaxHandlerBytes);
  ByteCursor cursor(bytes);
  const auto here = [&] { return function.handlers_vaddr + static_cast<std::uint64_t>(cursor.next() - bytes.data()); };
  std::uint64_t base = function.begin;
  if (const std::uint8_t encoding = cursor.byte(); encoding != kOmitted) {
    if (!is_readable_pointer(encoding)) return unknown;
    base = read_pointer(cursor, encoding, here());
  }
  if (cursor.byte() != kOmitted) cursor.uleb();
  const std::uint8_t encoding = cursor.byte();
  if (!is_readable_pointer(encoding)) return unknown;
  ByteCursor table(cursor.block());
  while (table.ok() && !table.at_end()) {
    const std::uint64_t begin = function.begin + read_pointer_sized_count(table, encoding);
    const std::uint64_t size = read_pointer_sized_count(table, encoding);
    const std::uint64_t handler = read_pointer_sized_count(table, encoding);
    table.uleb();  // what is caught; whether it is makes no difference here
    if (!table.ok()) return unknown;
    if (vaddr - begin >= size) continue;
    return handler == 0 ? Way{.goes = Goes::kOut, .vaddr = 0} : Way{.goes = Goes::kTo, .vaddr = base + handler};
  }
  // Such an exception ends the program.
  return cursor.ok() && table.ok() ? Way{.goes = Goes::kOut, .vaddr = 0} : unknown;
}

}  // namespace hawk

#include "userspace/study/file_messages.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "userspace/study/wire.h"

namespace hawk {
namespace {

constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kNumbers32 = std::uint64_t{1} << 32;
constexpr std::uint64_t kKinds = HAWK_CALL_CONTROL_BY_NUMBER + 1;
constexpr std::uint64_t kRegisters = 16;
/// Of the narrower ones that can be shifted.
constexpr std::uint64_t kRegisterBits = 32;
constexpr std::uint64_t kConditions = 16;
constexpr std::uint64_t kOperandKinds = static_cast<std::uint64_t>(Operand::Kind::kConstant) + 1;
constexpr std::uint64_t kPointKinds = static_cast<std::uint64_t>(PointKind::kYieldAhead) + 1;
/// Two addresses, a kind, three operands of two numbers each, and seven numbers more.
constexpr std::size_t kLeastPointBytes = 16 * kNumberBytes;
/// Of code that is one piece of a plan.
constexpr std::uint64_t kMostPlannedBytes = std::uint64_t{1} << 20;
/// After the last row for which there is room: the end of the table, the entry point, the start of a context.
constexpr std::uint64_t kMostRowsAdded = 8;
/// Two lists, a kind, offsets, an instruction: more than this many numbers in each.
constexpr std::size_t kLeastFunctionBytes = 8 * kNumberBytes;
static_assert(sizeof(hawk_rule) == 16 && sizeof(hawk_row) == 8, "no padding: they are sent as they are");

std::string read_words(WireReader& reader, bool& is_good) {
  const std::string_view text = reader.text();
  is_good &= is_plain_text(text);
  return std::string(text);
}

/// As a number, and one more; 0: none.
template <class T>
void write_optional(WireWriter& writer, const std::optional<T>& value) {
  writer.number(value ? std::uint64_t{*value} + 1 : 0);
}

template <class T>
std::optional<T> read_optional(WireReader& reader, std::uint64_t end) {
  const std::uint64_t value = reader.number_below(end + 1);
  return value == 0 ? std::nullopt : std::optional<T>(static_cast<T>(value - 1));
}

/// An address, of which every value is valid.
void write_address(WireWriter& writer, const std::optional<std::uint64_t>& value) {
  writer.number(value ? 1 : 0);
  writer.number(value.value_or(0));
}

std::optional<std::uint64_t> read_address(WireReader& reader) {
  const bool is_there = reader.number_below(2) != 0;
  const std::uint64_t value = reader.number();
  return is_there ? std::optional(value) : std::nullopt;
}

void write_point(WireWriter& writer, const ReturnPointAt& at) {
  writer.number(at.file_offset);
  writer.number(at.point.vaddr);
  write_optional(writer, at.point.condition);
  writer.number(at.point.result_register);
  writer.number(at.point.slot_words);
  write_optional(writer, at.point.saved_rbp_words);
}

ReturnPointAt read_point(WireReader& reader) {
  ReturnPointAt at;
  at.file_offset = reader.number();
  at.point.vaddr = reader.number();
  at.point.condition = read_optional<std::uint8_t>(reader, kConditions);
  at.point.result_register = static_cast<std::uint8_t>(reader.number_below(kRegisters));
  at.point.slot_words = static_cast<std::uint32_t>(reader.number_below(HAWK_COOKIE_WORDS + 1));
  at.point.saved_rbp_words = read_optional<std::uint32_t>(reader, HAWK_COOKIE_WORDS);
  return at;
}

void write_operand(WireWriter& writer, const Operand& operand) {
  writer.number(static_cast<std::uint64_t>(operand.kind));
  writer.number(operand.index);
}

Operand read_operand(WireReader& reader) {
  Operand operand;
  operand.kind = static_cast<Operand::Kind>(reader.number_below(kOperandKinds));
  const bool is_register = operand.kind == Operand::Kind::kRegister;
  operand.index = static_cast<std::uint32_t>(reader.number_below(is_register ? kRegisters : kMaxPointWords + 1));
  return operand;
}

void write_inner_call(WireWriter& writer, const std::optional<InnerCall>& inner) {
  writer.number(inner ? 1 : 0);
  if (!inner) return;
  writer.number(inner->words);
  write_optional(writer, inner->saved_rbp_words);
  writer.number(inner->return_vaddr);
}

void write_free_list(WireWriter& writer, const std::optional<FreeList>& list) {
  writer.number(list ? 1 : 0);
  if (!list) return;
  writer.number(list->lists);
  writer.number(list->list_shift);
  writer.number(static_cast<std::uint32_t>(list->head));
  writer.number(list->classes_vaddr);
  writer.number(list->size_added);
  writer.number(list->size_shift);
}

void write_yield_point(WireWriter& writer, const YieldPoint& point) {
  writer.number(point.vaddr);
  writer.number(point.file_offset);
  writer.number(static_cast<std::uint64_t>(point.kind));
  writer.number(point.single_stepped ? 1 : 0);
  write_optional(writer, point.condition);
  write_operand(writer, point.result);
  write_operand(writer, point.size);
  write_operand(writer, point.size_factor);
  writer.number(point.slot_words);
  write_optional(writer, point.saved_rbp_words);
  write_inner_call(writer, point.inner);
  write_inner_call(writer, point.called_by);
  write_free_list(writer, point.ahead);
}

std::optional<InnerCall> read_inner_call(WireReader& reader) {
  if (reader.number_below(2) == 0) return std::nullopt;
  InnerCall inner;
  inner.words = static_cast<std::uint32_t>(reader.number_below(kMaxPointWords + 1));
  inner.saved_rbp_words = read_optional<std::uint32_t>(reader, kMaxPointWords + 1);
  inner.return_vaddr = reader.number();
  return inner;
}

std::optional<FreeList> read_free_list(WireReader& reader) {
  if (reader.number_below(2) == 0) return std::nullopt;
  FreeList list;
  list.lists = static_cast<std::uint8_t>(reader.number_below(kRegisters));
  list.list_shift = static_cast<std::uint8_t>(reader.number_below(kRegisterBits));
  list.head = static_cast<std::int32_t>(reader.number_below(kNumbers32));
  list.classes_vaddr = reader.number();
  list.size_added = static_cast<std::uint32_t>(reader.number_below(kNumbers32));
  list.size_shift = static_cast<std::uint8_t>(reader.number_below(kRegisterBits));
  return list;
}

YieldPoint read_yield_point(WireReader& reader) {
  YieldPoint point;
  point.vaddr = reader.number();
  point.file_offset = reader.number();
  point.kind = static_cast<PointKind>(reader.number_below(kPointKinds));
  point.single_stepped = reader.number_below(2) != 0;
  point.condition = read_optional<std::uint8_t>(reader, kConditions);
  point.result = read_operand(reader);
  point.size = read_operand(reader);
  point.size_factor = read_operand(reader);
  point.slot_words = static_cast<std::uint32_t>(reader.number_below(kMaxPointWords + 1));
  point.saved_rbp_words = read_optional<std::uint32_t>(reader, kMaxPointWords + 1);
  point.inner = read_inner_call(reader);
  point.called_by = read_inner_call(reader);
  point.ahead = read_free_list(reader);
  return point;
}

void write_plan(WireWriter& writer, const YieldPlan& plan) {
  writer.number(plan.points.size());
  for (const YieldPoint& point : plan.points) write_yield_point(writer, point);
  writer.number(plan.code.size());
  for (const CodePiece& piece : plan.code) {
    writer.number(piece.file_offset);
    writer.number(piece.bytes);
  }
  writer.number(plan.opens_at_entry ? 1 : 0);
  writer.number(plan.relies_on.size());
  for (const std::uint64_t offset : plan.relies_on) writer.number(offset);
  writer.number(plan.goes_on ? 1 : 0);
  writer.text(plan.fallback);
}

YieldPlan read_plan(WireReader& reader, bool& is_good) {
  YieldPlan plan;
  for (std::uint64_t left = reader.count(kLeastPointBytes); left > 0; --left) {
    plan.points.push_back(read_yield_point(reader));
  }
  for (std::uint64_t left = reader.count(2 * kNumberBytes); left > 0; --left) {
    const std::uint64_t file_offset = reader.number();
    plan.code.push_back({.file_offset = file_offset, .bytes = reader.number_below(kMostPlannedBytes)});
  }
  plan.opens_at_entry = reader.number_below(2) != 0;
  for (std::uint64_t left = reader.count(kNumberBytes); left > 0; --left) plan.relies_on.push_back(reader.number());
  plan.goes_on = reader.number_below(2) != 0;
  plan.fallback = read_words(reader, is_good);
  return plan;
}

void write_function(WireWriter& writer, const AllocatorFunction& function) {
  writer.number(function.names.size());
  for (const std::string& name : function.names) writer.text(name);
  writer.number(function.kind);
  writer.number(function.entry_offset);
  writer.number(function.probe_offset);
  writer.text(function.instruction);
  writer.number(function.single_stepped ? 1 : 0);
  for (const std::uint8_t argument : function.arguments) writer.number(argument);
  writer.number(function.frame.slot_words);
  write_optional(writer, function.frame.saved_rbp_words);
  writer.number(function.return_offsets.size());
  for (const std::uint64_t offset : function.return_offsets) writer.number(offset);
  writer.number(function.return_points.size());
  for (const ReturnPointAt& at : function.return_points) write_point(writer, at);
  writer.number(function.may_throw ? 1 : 0);
  write_plan(writer, function.yields);
}

AllocatorFunction read_function(WireReader& reader, bool& is_good) {
  AllocatorFunction function;
  for (std::uint64_t left = reader.count(kNumberBytes); left > 0; --left) function.names.emplace_back(reader.text());
  function.kind = static_cast<hawk_call_kind>(reader.number_below(kKinds));
  function.entry_offset = reader.number();
  function.probe_offset = reader.number();
  function.instruction = read_words(reader, is_good);
  function.single_stepped = reader.number_below(2) != 0;
  for (std::uint8_t& argument : function.arguments)
    argument = static_cast<std::uint8_t>(reader.number_below(kRegisters));
  function.frame.slot_words = static_cast<std::uint32_t>(reader.number_below(kMaxFrameWords + 1));
  function.frame.saved_rbp_words = read_optional<std::uint32_t>(reader, kMaxFrameWords + 1);
  for (std::uint64_t left = reader.count(kNumberBytes); left > 0; --left)
    function.return_offsets.push_back(reader.number());
  for (std::uint64_t left = reader.count(kNumberBytes); left > 0; --left)
    function.return_points.push_back(read_point(reader));
  function.may_throw = reader.number_below(2) != 0;
  function.yields = read_plan(reader, is_good);
  is_good &= !function.names.empty();
  return function;
}

void write_functions(WireWriter& writer, const std::vector<AllocatorFunction>& functions) {
  writer.number(functions.size());
  for (const AllocatorFunction& function : functions) write_function(writer, function);
}

std::vector<AllocatorFunction> read_functions(WireReader& reader, bool& is_good) {
  std::vector<AllocatorFunction> functions;
  for (std::uint64_t left = reader.count(kLeastFunctionBytes); left > 0 && reader.is_good(); --left) {
    functions.push_back(read_function(reader, is_good));
  }
  return functions;
}

void write_operator_frames(WireWriter& writer, const OperatorFrames& frames) {
  writer.number(frames.call_sites.size());
  for (const CallSiteRule& site : frames.call_sites) {
    writer.number(site.return_vaddr);
    writer.number(site.cfa_offset_bytes);
    write_optional(writer, site.saved_rbp_offset_bytes);
  }
  write_address(writer, frames.init_vaddr);
  write_address(writer, frames.init_offset);
}

OperatorFrames read_operator_frames(WireReader& reader) {
  OperatorFrames frames;
  for (std::uint64_t left = reader.count(3 * kNumberBytes); left > 0; --left) {
    CallSiteRule& site = frames.call_sites.emplace_back();
    site.return_vaddr = reader.number();
    site.cfa_offset_bytes = static_cast<std::uint32_t>(reader.number_below(kNumbers32));
    site.saved_rbp_offset_bytes = read_optional<std::uint32_t>(reader, kNumbers32);
  }
  frames.init_vaddr = read_address(reader);
  frames.init_offset = read_address(reader);
  return frames;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

bool is_sane(const hawk_rule& rule) {
  return rule.kind < HAWK_RULE_KINDS && rule.base <= HAWK_BASE_FP && rule.fp_rule <= HAWK_FP_LOST && rule.is_guess <= 1;
}

bool read_rules(std::string_view bytes, std::vector<hawk_rule>& rules) {
  if (bytes.size() % sizeof(hawk_rule) != 0 || bytes.size() / sizeof(hawk_rule) > HAWK_MAX_RULES) return false;
  rules.resize(bytes.size() / sizeof(hawk_rule));
  if (!rules.empty()) std::memcpy(rules.data(), bytes.data(), bytes.size());
  return std::all_of(rules.begin(), rules.end(), is_sane);
}

}  // namespace

bool is_plain_text(std::string_view text) {
  constexpr std::size_t kLongest = 256;
  return text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(), [](char byte) { return byte >= ' ' && byte <= '~'; });
}

std::string to_body(const FileWants& wants) {
  WireWriter writer;
  writer.number(wants.code ? 1 : 0);
  writer.number(static_cast<std::uint64_t>(wants.plans));
  writer.number(wants.table ? 1 : 0);
  return writer.bytes();
}

bool from_body(std::string_view body, FileWants& wants) {
  WireReader reader(body);
  wants.code = reader.number_below(2) != 0;
  wants.plans = static_cast<Plans>(reader.number_below(static_cast<std::uint64_t>(Plans::kMadeForMappings) + 1));
  wants.table = reader.number_below(2) != 0;
  return reader.is_complete();
}

std::string to_body(const FileCode& code) {
  WireWriter writer;
  writer.number(code.is_go ? 1 : 0);
  writer.number(code.is_dynamic_linker ? 1 : 0);
  writer.number(code.allocator.is_library ? 1 : 0);
  write_functions(writer, code.allocator.functions);
  write_functions(writer, code.allocator.unfollowed);
  writer.number(code.allocator.unprobed.size());
  for (const UnprobedFunction& unprobed : code.allocator.unprobed) {
    writer.text(unprobed.name);
    writer.text(unprobed.reason);
  }
  writer.number(code.operator_frames ? 1 : 0);
  if (code.operator_frames) write_operator_frames(writer, *code.operator_frames);
  return writer.bytes();
}

bool from_body(std::string_view body, FileCode& code) {
  WireReader reader(body);
  code.is_go = reader.number_below(2) != 0;
  code.is_dynamic_linker = reader.number_below(2) != 0;
  code.allocator.is_library = reader.number_below(2) != 0;
  bool is_good = true;
  code.allocator.functions = read_functions(reader, is_good);
  code.allocator.unfollowed = read_functions(reader, is_good);
  for (std::uint64_t left = reader.count(2 * kNumberBytes); left > 0 && reader.is_good(); --left) {
    UnprobedFunction& unprobed = code.allocator.unprobed.emplace_back();
    unprobed.name = reader.text();
    unprobed.reason = read_words(reader, is_good);
  }
  if (reader.number_below(2) != 0) code.operator_frames = read_operator_frames(reader);
  return is_good && reader.is_complete();
}

std::string to_body(const TableHead& head) {
  WireWriter writer;
  writer.number(head.table.table.base_vaddr);
  writer.number(head.row_count);
  writer.number(static_cast<std::uint64_t>(head.table.took.count()));
  writer.number(head.table.rules_refused);
  writer.text(bytes_of(head.table.rules));
  writer.number(head.table.table.unsupported.size());
  for (const auto& [reason, rows] : head.table.table.unsupported) {
    writer.text(reason);
    writer.number(rows);
  }
  return writer.bytes();
}

bool from_body(std::string_view body, TableHead& head) {
  WireReader reader(body);
  head.table.table.base_vaddr = reader.number();
  head.row_count = reader.number_below(kMaxUnwindRows + kMostRowsAdded + 1);
  head.table.took = std::chrono::nanoseconds(reader.number());
  head.table.rules_refused = reader.number();
  bool is_good = read_rules(reader.text(), head.table.rules);
  for (std::uint64_t left = reader.count(2 * kNumberBytes); left > 0 && reader.is_good(); --left) {
    const std::string reason = read_words(reader, is_good);
    head.table.table.unsupported[reason] = reader.number();
  }
  return is_good && reader.is_complete();
}

bool add_rows(std::string_view body, FileTable& table) {
  std::vector<hawk_row>& rows = table.table.rows;
  const std::size_t known = rows.size(), count = body.size() / sizeof(hawk_row);
  if (body.size() % sizeof(hawk_row) != 0 || count == 0) return false;
  rows.resize(known + count);
  std::memcpy(rows.data() + known, body.data(), body.size());
  const std::size_t numbers = HAWK_FIRST_RULE + table.rules.size();
  bool is_good = known != 0 || rows.front().offset == 0;
  for (std::size_t i = known; i < rows.size(); ++i) {
    is_good &= rows[i].rule < numbers && (i == 0 || rows[i - 1].offset < rows[i].offset);
  }
  return is_good;
}

}  // namespace hawk

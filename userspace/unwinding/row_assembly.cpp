#include "userspace/unwinding/row_assembly.h"

#include <algorithm>

#include "userspace/unwinding/frame_rule.h"

namespace hawk {
namespace {

/// Functions are aligned to 16 bytes: what lies between them and is shorter is padding.
constexpr std::uint32_t kMaxPadding = 15;

}  // namespace

void RowAssembly::add(std::uint64_t begin, std::uint64_t end, bool is_signal_frame, FrameProgram& program) {
  const std::uint64_t offset = begin - base_vaddr_;
  close_up_to(offset);
  if (open_.empty()) {
    // At the beginning there is no rule that could cover padding.
    if (offset - reached_ > kMaxPadding || (rows_.empty() && offset != 0)) append(reached_, HAWK_RULE_GAP);
    reached_ = static_cast<std::uint32_t>(offset);
  }
  open_.push_back({.end = static_cast<std::uint32_t>(end - base_vaddr_),
                   .first_row = open_rows_.size(),
                   .next_row = open_rows_.size()});
  run(begin, end, is_signal_frame, program);
}

std::vector<hawk_row> RowAssembly::finish() {
  close_up_to(UINT32_MAX);
  if (!rows_.empty() && rows_.back().rule != HAWK_RULE_GAP)
    rows_.push_back({.offset = reached_, .rule = HAWK_RULE_GAP});
  return std::move(rows_);
}

void RowAssembly::run(std::uint64_t begin, std::uint64_t end, bool is_signal_frame, FrameProgram& program) {
  std::uint64_t from = begin;
  FrameProgram::Stop stop = FrameProgram::Stop::kMoved;
  while (stop == FrameProgram::Stop::kMoved && from < end) {
    stop = program.run();
    const auto offset = static_cast<std::uint32_t>(from - base_vaddr_);
    if (stop == FrameProgram::Stop::kDamaged) {
      unsupported_.add(program.flaw());
      open_rows_.push_back({.offset = offset, .rule = HAWK_RULE_UNSUPPORTED});
    } else {
      open_rows_.push_back({.offset = offset, .rule = number_of(program.state(), is_signal_frame)});
    }
    from = program.location();
  }
}

std::uint32_t RowAssembly::number_of(const FrameState& state, bool is_signal_frame) {
  const FrameRule made = frame_rule(state, is_signal_frame);
  if (made.unsupported == Unsupported::kCfaRegister) {
    unsupported_.add_cfa_register(state.cfa.base);
  } else if (made.unsupported != Unsupported::kNothing) {
    unsupported_.add(made.unsupported);
  }
  const std::uint32_t number = rules_.number_of(made.rule);
  if (number == HAWK_RULE_UNSUPPORTED && made.rule.kind != HAWK_RULE_UNSUPPORTED) {
    unsupported_.add(Unsupported::kTooManyRules);
  }
  return number;
}

void RowAssembly::close_up_to(std::uint64_t offset) {
  while (!open_.empty()) {
    Open& top = open_.back();
    const auto to = static_cast<std::uint32_t>(std::min<std::uint64_t>(top.end, offset));
    if (to > reached_) copy(top, reached_, to);
    reached_ = std::max(reached_, to);
    if (top.end > offset) return;
    open_rows_.resize(top.first_row);
    open_.pop_back();
  }
}

/// The top function's rows between these offsets.
void RowAssembly::copy(Open& function, std::uint32_t from, std::uint32_t to) {
  std::size_t& next = function.next_row;
  while (next + 1 < open_rows_.size() && open_rows_[next + 1].offset <= from) ++next;
  append(from, open_rows_[next].rule);
  while (next + 1 < open_rows_.size() && open_rows_[next + 1].offset < to) {
    ++next;
    append(open_rows_[next].offset, open_rows_[next].rule);
  }
}

void RowAssembly::append(std::uint32_t offset, std::uint32_t rule) {
  if (rows_.size() >= max_rows_) {
    unsupported_.add(Unsupported::kTooManyRows);
    rule = HAWK_RULE_UNSUPPORTED;
  }
  if (!rows_.empty() && rows_.back().rule == rule) return;
  rows_.push_back({.offset = offset, .rule = rule});
}

}  // namespace hawk

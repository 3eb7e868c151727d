#include "tests/unit/unwinding/libdw_oracle.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

namespace hawk::testing {
namespace {

constexpr std::size_t kMaxDifferencesKept = 100;
constexpr std::uint64_t kMaxPadding = 15;
constexpr int kRbp = 6, kRsp = 7, kRip = 16;

struct CloseElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};
struct CloseDwarf {
  void operator()(Dwarf* dwarf) const { dwarf_end(dwarf); }
};
struct CloseCfi {
  void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
};
struct Free {
  void operator()(Dwarf_Frame* frame) const { std::free(frame); }
};

/// A row of libdw, in the words of text_of(); "?..." is what no rule can say.
struct LibdwRow {
  std::uint64_t end = 0;
  std::string text;
};

using Operations = std::span<const Dwarf_Op>;

std::string offset_text(std::int64_t offset) { return fmt::format("{:+}", offset); }

/// "rsp+8", "rbp-16"; nullopt when it is no register plus offset, or another register.
std::optional<std::string> base_text(const Dwarf_Op& op) {
  std::uint64_t number = op.atom == DW_OP_bregx ? op.number : UINT64_MAX;
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) number = op.atom - DW_OP_breg0;
  const auto offset = static_cast<std::int64_t>(op.atom == DW_OP_bregx ? op.number2 : op.number);
  if (number == kRsp) return "rsp" + offset_text(offset);
  if (number == kRbp) return "rbp" + offset_text(offset);
  return std::nullopt;
}

std::string plt_text(Operations ops, const std::string& base) {
  const bool fits = ops.size() == 9 && ops[1].atom == DW_OP_breg16 && ops[1].number == 0 &&
                    ops[2].atom == DW_OP_lit15 && ops[3].atom == DW_OP_and && ops[4].atom >= DW_OP_lit0 &&
                    ops[4].atom <= DW_OP_lit15 && ops[5].atom == DW_OP_ge && ops[6].atom == DW_OP_lit3 &&
                    ops[7].atom == DW_OP_shl && ops[8].atom == DW_OP_plus;
  return fits ? fmt::format("plt({},{})", base, ops[4].atom - DW_OP_lit0) : "?cfa expression";
}

std::string cfa_text(Operations ops) {
  if (ops.empty()) return "?no cfa";
  const std::optional<std::string> base = base_text(ops[0]);
  if (!base) return "?cfa register";
  if (ops.size() == 1) return *base;
  if (ops[1].atom != DW_OP_deref) return plt_text(ops, *base);
  if (ops.size() == 2) return "*(" + *base + ")+0";
  if (ops.size() == 3 && ops[2].atom == DW_OP_plus_uconst) return fmt::format("*({})+{}", *base, ops[2].number);
  return "?cfa expression";
}

/// Where libdw says a register is: "same", "undefined", "cfa-16", "*(cfa-16)", "*(rbp+0)".
std::string register_text(Dwarf_Frame* frame, int number) {
  Dwarf_Op memory[3];
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0) return "?libdw error";
  if (count == 0) return ops == memory ? "undefined" : "same";
  const bool is_value = ops[count - 1].atom == DW_OP_stack_value;
  if (is_value) --count;
  std::string rule;
  if (count >= 1 && ops[0].atom != DW_OP_call_frame_cfa) return "?in a register";
  if (count == 1) rule = "cfa+0";
  if (count == 2 && ops[1].atom == DW_OP_plus_uconst) {
    rule = "cfa" + offset_text(static_cast<std::int64_t>(ops[1].number));
  } else if (count == 2) {
    rule = base_text(ops[1]).value_or("");
  }
  if (rule.empty()) return "?expression";
  return is_value ? rule : "*(" + rule + ")";
}

std::string row_text(Dwarf_Frame* frame, bool is_signal_frame) {
  const std::string return_address = register_text(frame, kRip), frame_pointer = register_text(frame, kRbp);
  if (return_address == "undefined") return "end";
  Dwarf_Op* ops = nullptr;
  std::size_t count = 0;
  if (dwarf_frame_cfa(frame, &ops, &count) != 0) return "?libdw error";
  std::string cfa = cfa_text({ops, count});
  if (is_signal_frame) {
    const bool fits = cfa == "*(rsp+160)+0" && return_address == "*(rsp+168)" && frame_pointer == "*(rsp+120)";
    return fits ? "signal" : "?signal";
  }
  if (cfa.starts_with("?")) return cfa;
  if (return_address != "*(cfa-8)") return "?return address " + return_address;
  if (const std::string rsp = register_text(frame, kRsp); rsp != "cfa+0") return "?rsp " + rsp;
  const bool is_lost = frame_pointer == "undefined" || frame_pointer.starts_with("?") ||
                       (frame_pointer != "same" && !frame_pointer.starts_with("*"));
  return "cfa=" + cfa + " rbp=" + (is_lost ? "lost" : frame_pointer);
}

std::optional<LibdwRow> libdw_row_at(Dwarf_CFI* cfi, std::uint64_t vaddr) {
  Dwarf_Frame* raw = nullptr;
  if (dwarf_cfi_addrframe(cfi, vaddr, &raw) != 0) return std::nullopt;
  const std::unique_ptr<Dwarf_Frame, Free> frame(raw);
  Dwarf_Addr start = 0, end = 0;
  bool is_signal_frame = false;
  if (dwarf_frame_info(raw, &start, &end, &is_signal_frame) != kRip) return std::nullopt;
  return LibdwRow{end, row_text(raw, is_signal_frame)};
}

/// Whether libdw knows an address soon after this one.
bool is_padding(Dwarf_CFI* cfi, std::uint64_t vaddr) {
  for (std::uint64_t distance = 1; distance <= kMaxPadding; ++distance) {
    if (libdw_row_at(cfi, vaddr + distance)) return true;
  }
  return false;
}

class Comparer {
 public:
  Comparer(Dwarf_CFI* cfi, const RuleSet& rules) : cfi_(cfi), rules_(rules) {}

  /// One of our rows.
  void compare(std::uint64_t begin, std::uint64_t end, std::uint32_t number) {
    ++result_.rows;
    const hawk_rule& rule = rules_.rules()[number];
    if (rule.kind == HAWK_RULE_GAP) {
      return compare_gap(begin, end);
    }
    for (std::uint64_t vaddr = begin; vaddr < end;) {
      const std::optional<LibdwRow> row = libdw_row_at(cfi_, vaddr);
      if (row) compare_row(vaddr, rule, row->text);
      if (!row && is_padding(cfi_, vaddr)) ++result_.padding;
      if (!row && !is_padding(cfi_, vaddr)) add_difference(vaddr, text_of(rule), "nothing");
      vaddr = row && row->end > vaddr ? row->end : next_known(vaddr, end);
    }
  }

  Comparison result() { return std::move(result_); }

 private:
  /// Where functions begin, unless it is large.
  void compare_gap(std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t step = std::max<std::uint64_t>(16, (end - begin) / 1000 / 16 * 16);
    std::vector<std::uint64_t> vaddrs = {begin, end - 1};
    for (std::uint64_t vaddr = (begin + 15) / 16 * 16; vaddr < end; vaddr += step) vaddrs.push_back(vaddr);
    for (const std::uint64_t vaddr : vaddrs) {
      if (const std::optional<LibdwRow> row = libdw_row_at(cfi_, vaddr)) add_difference(vaddr, "gap", row->text);
    }
  }

  void compare_row(std::uint64_t vaddr, const hawk_rule& rule, const std::string& theirs) {
    ++result_.libdw_rows;
    if (theirs.starts_with("?") && rule.kind == HAWK_RULE_UNSUPPORTED) {
      ++result_.unsupported;
    } else if (const std::string ours = text_of(rule); ours != theirs) {
      add_difference(vaddr, ours, theirs);
    }
  }

  std::uint64_t next_known(std::uint64_t vaddr, std::uint64_t end) const {
    while (++vaddr < end && !libdw_row_at(cfi_, vaddr)) {
    }
    return vaddr;
  }

  void add_difference(std::uint64_t vaddr, const std::string& ours, const std::string& theirs) {
    ++result_.difference_count;
    if (result_.differences.size() >= kMaxDifferencesKept) return;
    result_.differences.push_back(fmt::format("{:#x}: ours {}, libdw {}", vaddr, ours, theirs));
  }

  Dwarf_CFI* cfi_;
  const RuleSet& rules_;
  Comparison result_;
};

void compare_all(Dwarf_CFI* cfi, const UnwindTable& table, const RuleSet& rules, Comparison& result) {
  Comparer comparer(cfi, rules);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::uint64_t begin = table.base_vaddr + table.rows[i].offset;
    // The last row is the gap behind everything.
    const std::uint64_t end = i + 1 < table.rows.size() ? table.base_vaddr + table.rows[i + 1].offset : begin + 4096;
    comparer.compare(begin, end, table.rows[i].rule);
  }
  result = comparer.result();
}

}  // namespace

std::string text_of(const hawk_rule& rule) {
  static const std::vector<std::string> kKinds = {"no code", "no table", "gap",    "unsupported", "changing",  "plain",
                                                  "loaded",  "plt",      "signal", "end",         "trampoline"};
  const std::string base = (rule.base == HAWK_BASE_SP ? "rsp" : "rbp");
  std::string cfa;
  switch (rule.kind) {
    case HAWK_RULE_PLAIN:
      cfa = base + offset_text(rule.cfa_offset);
      break;
    case HAWK_RULE_LOADED:
      cfa = fmt::format("*({}{:+})+{}", base, rule.load_offset, rule.cfa_offset);
      break;
    case HAWK_RULE_PLT:
      cfa = fmt::format("plt({}{:+},{})", base, rule.cfa_offset, rule.load_offset);
      break;
    default:
      return rule.kind < kKinds.size() ? kKinds[rule.kind] : "no kind";
  }
  std::string frame_pointer;
  switch (rule.fp_rule) {
    case HAWK_FP_SAME:
      frame_pointer = "same";
      break;
    case HAWK_FP_AT_CFA:
      frame_pointer = "*(cfa" + offset_text(rule.fp_offset) + ")";
      break;
    case HAWK_FP_AT_SP:
      frame_pointer = "*(rsp" + offset_text(rule.fp_offset) + ")";
      break;
    case HAWK_FP_AT_FP:
      frame_pointer = "*(rbp" + offset_text(rule.fp_offset) + ")";
      break;
    default:
      frame_pointer = "lost";
  }
  return "cfa=" + cfa + " rbp=" + frame_pointer;
}

UnwindTable table_of(const ElfImage& image, Oracle oracle, RuleSet& rules) {
  const std::optional<CallFrameSection> section = oracle == Oracle::kEhFrame ? image.eh_frame() : image.debug_frame();
  if (!section) return {};
  return read_unwind_table({section->bytes, section->vaddr, section->is_debug_frame, section->ends_at_zero}, rules);
}

Comparison compare_with_libdw(const ElfImage& image, Oracle oracle, const UnwindTable& table, const RuleSet& rules) {
  Comparison result;
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, CloseElf> elf(elf_begin(image.fd(), ELF_C_READ_MMAP, nullptr));
  if (oracle == Oracle::kEhFrame) {
    const std::unique_ptr<Dwarf_CFI, CloseCfi> cfi(dwarf_getcfi_elf(elf.get()));
    if (cfi) compare_all(cfi.get(), table, rules, result);
  } else {
    const std::unique_ptr<Dwarf, CloseDwarf> dwarf(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr));
    Dwarf_CFI* cfi = dwarf ? dwarf_getcfi(dwarf.get()) : nullptr;
    if (cfi != nullptr) compare_all(cfi, table, rules, result);
  }
  return result;
}

}  // namespace hawk::testing

#include "tests/stepping/plan_text.h"

#include <fmt/core.h>

#include <array>

namespace hawk::testing {
namespace {

constexpr std::array kRegisters = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                   "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
constexpr std::array kConditions = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                    "s", "ns", "p", "np", "l", "ge", "le", "g"};
constexpr std::array kKinds = {"yield", "size", "yield-after-size", "forward", "return-probe", "yield-ahead"};

std::string operand_text(const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kNowhere:
      return "-";
    case Operand::Kind::kRegister:
      return kRegisters[operand.index];
    case Operand::Kind::kStack:
      return fmt::format("[rsp+{:#x}]", operand.index * 8);
    case Operand::Kind::kConstant:
      return fmt::format("{}", operand.index);
  }
  return "?";
}

std::string point_text(const YieldPoint& point, std::uint64_t entry_offset) {
  std::string text = fmt::format(
      "  {}{:#x} {}", point.file_offset < entry_offset ? "-" : "+",
      point.file_offset < entry_offset ? entry_offset - point.file_offset : point.file_offset - entry_offset,
      kKinds[static_cast<std::size_t>(point.kind)]);
  if (point.single_stepped) text += " (single-stepped)";
  if (point.condition) text += fmt::format(" if {}", kConditions[*point.condition]);
  text += fmt::format(": result {}, size {}", operand_text(point.result), operand_text(point.size));
  if (point.size_factor.kind != Operand::Kind::kNowhere) text += fmt::format(" * {}", operand_text(point.size_factor));
  text += fmt::format(", return address [rsp+{:#x}], rbp {}", point.slot_words * 8,
                      point.saved_rbp_words ? fmt::format("[rsp+{:#x}]", *point.saved_rbp_words * 8) : "rbp");
  if (point.inner) text += fmt::format(", inner call at [slot-{:#x}]", point.inner->words * 8);
  if (const auto& list = point.ahead) {
    text += fmt::format(", ahead [{}{:+#x} + ([{:#x} + ((size + {:#x}) >> {})] << {})]", kRegisters[list->lists],
                        list->head, list->classes_vaddr, list->size_added, list->size_shift, list->list_shift);
  }
  return text + "\n";
}

}  // namespace

std::string plan_text(const AllocatorFunction& function) {
  std::string text;
  for (const std::string& name : function.names) text += (text.empty() ? "" : ", ") + name;
  if (!function.yields.fallback.empty()) return text + ": " + function.yields.fallback + "\n";
  text += fmt::format(": {} points{}\n", function.yields.points.size(),
                      function.yields.opens_at_entry ? " and its entry" : "");
  for (const YieldPoint& point : function.yields.points) text += point_text(point, function.entry_offset);
  return text;
}

}  // namespace hawk::testing

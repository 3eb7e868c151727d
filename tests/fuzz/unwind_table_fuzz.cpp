// Call frame information of a mapped file: a byte of settings, then a section.
#include "tests/fuzz/fuzz_input.h"
#include "userspace/unwinding/unwind_section.h"

namespace {

constexpr std::uint8_t kDebugFrame = 1, kEndsAtZero = 2, kFewRows = 4;

/// The kernel searches rows by bisection and takes their numbers as they are.
void check(const hawk::UnwindTable& table, const hawk::RuleSet& rules) {
  if (table.rows.empty()) return;
  HAWK_CHECK(table.rows.front().offset == 0, "rows begin behind their base");
  HAWK_CHECK(table.rows.back().rule == HAWK_RULE_GAP, "the last rule has no end");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::uint32_t rule = table.rows[i].rule;
    HAWK_CHECK(rule < rules.rules().size(), "a rule that there is not");
    HAWK_CHECK(rule != HAWK_RULE_FRAME_POINTER, "a guess in a table");
    if (i == 0) continue;
    HAWK_CHECK(table.rows[i - 1].offset < table.rows[i].offset, "rows out of order");
    HAWK_CHECK(table.rows[i - 1].rule != rule, "a row that says nothing new");
  }
}

void check(const hawk_rule& rule) {
  HAWK_CHECK(rule.kind < HAWK_RULE_KINDS && rule.base <= HAWK_BASE_FP && rule.fp_rule <= HAWK_FP_LOST,
             "a rule that cannot be followed");
  HAWK_CHECK(rule.kind != HAWK_RULE_PLT || rule.base == HAWK_BASE_SP, "a stub that does not count from rsp");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // In memory of its own, so that a sanitizer sees a read beyond either end.
  const std::vector<std::uint8_t> bytes(data + 1, data + size);
  const hawk::UnwindSection section = {.bytes = bytes,
                                       .vaddr = 0x100000,
                                       .is_debug_frame = (data[0] & kDebugFrame) != 0,
                                       .ends_at_zero = (data[0] & kEndsAtZero) != 0};
  const std::size_t max_rows = (data[0] & kFewRows) != 0 ? 16 : hawk::kMaxUnwindRows;
  hawk::RuleSet rules;
  const hawk::UnwindTable table = hawk::read_unwind_table(section, rules, max_rows);
  check(table, rules);
  for (const hawk_rule& rule : rules.rules()) check(rule);
  HAWK_CHECK(table.rows.size() <= bytes.size() && table.rows.size() <= max_rows + 2,
             "more rows than anything asks for");
  const hawk::UnwindTable again = hawk::read_unwind_table(section, rules, max_rows);
  HAWK_CHECK(again.base_vaddr == table.base_vaddr && again.rows.size() == table.rows.size(),
             "what is known already changes the table");
  return 0;
}

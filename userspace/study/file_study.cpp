#include "userspace/study/file_study.h"

#include <utility>

namespace hawk {

UnwindTable FileTable::numbered_by(RuleSet& set) && {
  std::vector<std::uint32_t> numbers;
  numbers.reserve(HAWK_FIRST_RULE + rules.size());
  for (std::uint32_t reserved = 0; reserved < HAWK_FIRST_RULE; ++reserved) numbers.push_back(reserved);
  for (const hawk_rule& rule : rules) numbers.push_back(set.number_of(rule));
  set.note_refused(rules_refused);
  for (hawk_row& row : table.rows) row.rule = numbers[row.rule];
  return std::move(table);
}

}  // namespace hawk

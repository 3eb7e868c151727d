#include "userspace/views/call_pattern.h"

#include "userspace/base/check.h"

namespace hawk {

CallPattern::CallPattern(const std::string& text)
    : text_(text), expression_(std::make_shared<const RegularExpression>(text)) {
  HAWK_CHECK(expression_->is_valid(), "a pattern that was not checked");
}

bool CallPattern::matches(const ListedFrame& call, const Snapshot& snapshot) const {
  return any_text_of(call, snapshot,
                     [this](const std::string& text) { return !text.empty() && expression_->matches(text); });
}

}  // namespace hawk

#include "userspace/screen/stack_filter.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "userspace/report/call_table.h"

namespace hawk {
namespace {

bool contains_ignoring_case(const std::string& text, const std::string& part) {
  const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::unique_ptr<const RegularExpression> expression_of(const std::string& pattern) {
  if (pattern.empty()) return nullptr;
  auto expression = std::make_unique<const RegularExpression>(pattern, RegularExpression::Case::kIgnored);
  return expression->is_valid() ? std::move(expression) : nullptr;
}

}  // namespace

StackFilter::StackFilter(std::string pattern) : pattern_(std::move(pattern)), expression_(expression_of(pattern_)) {}

bool StackFilter::matches(const std::string& text) const {
  if (expression_ == nullptr) return contains_ignoring_case(text, pattern_);
  return expression_->matches(text);
}

bool StackFilter::matches(const ListedFrame& call, const Snapshot& snapshot) const {
  return matches(frame_name(call.location, call.source, snapshot)) || matches(call.source.file) ||
         matches(module_position(call.location, snapshot, true));
}

void StackFilter::look_at(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot,
                          Symbolizer& symbolizer) {
  const CallTable calls(snapshot, stacks, symbolizer, {});
  std::vector<std::optional<bool>> call_matches(calls.size());
  for (const StackRecord* stack : stacks) {
    const FrameList frames = calls.list(*stack);
    known_[stack->id] = std::any_of(frames.begin(), frames.end(), [&](const ListedFrame* call) {
      std::optional<bool>& known = call_matches[calls.number_of(*call)];
      if (!known) known = matches(*call, snapshot);
      return *known;
    });
  }
}

void StackFilter::apply(std::vector<ValuedStack>& stacks, const Snapshot& snapshot, Symbolizer& symbolizer) {
  if (pattern_.empty()) return;
  std::vector<const StackRecord*> unknown;
  for (const ValuedStack& valued : stacks) {
    if (!known_.contains(valued.stack->id)) unknown.push_back(valued.stack);
  }
  if (!unknown.empty()) look_at(unknown, snapshot, symbolizer);
  std::erase_if(stacks, [&](const ValuedStack& valued) { return !known_.at(valued.stack->id); });
}

}  // namespace hawk

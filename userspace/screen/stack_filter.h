#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/base/regular_expression.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The filter for stacks: those with a call whose function, source file or module matches a pattern. Each stack is
/// checked once, however often the screen is drawn.
class StackFilter {
 public:
  /// `pattern`: an extended regular expression (regex(7)) in which case does not matter; one that is none is searched
  /// for as it stands. Empty: every stack matches.
  explicit StackFilter(std::string pattern);

  const std::string& pattern() const { return pattern_; }
  /// Whether the pattern is a regular expression.
  bool is_expression() const { return expression_ != nullptr || pattern_.empty(); }
  /// Removes the stacks that do not match.
  void apply(std::vector<ValuedStack>& stacks, const Snapshot& snapshot, Symbolizer& symbolizer);
  /// To be called when numbers of stacks get another meaning.
  void forget() { known_.clear(); }

 private:
  bool matches(const std::string& text) const;
  bool matches(const ListedFrame& call, const Snapshot& snapshot) const;
  void look_at(const std::vector<const StackRecord*>& stacks, const Snapshot& snapshot, Symbolizer& symbolizer);

  std::string pattern_;
  std::unique_ptr<const RegularExpression> expression_;
  std::unordered_map<StackId, bool> known_;
};

}  // namespace hawk

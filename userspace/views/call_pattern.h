#pragma once

#include <memory>
#include <string>

#include "userspace/base/regular_expression.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A regular expression that calls are matched by, as in pprof: anywhere in the function's name, in its source file or
/// in the path of its module. Of a name both spellings count: the whole one, and the one that reports show.
class CallPattern {
 public:
  /// `text` must be an expression: see RegularExpression::is_valid().
  explicit CallPattern(const std::string& text);

  const std::string& text() const { return text_; }
  bool matches(const ListedFrame& call, const Snapshot& snapshot) const;

 private:
  std::string text_;
  std::shared_ptr<const RegularExpression> expression_;  ///< patterns are copied with the options that they are of
};

/// The texts of a call that patterns and suppressions are matched against. `is_match` is asked until it says yes.
template <class Predicate>
bool any_text_of(const ListedFrame& call, const Snapshot& snapshot, const Predicate& is_match) {
  if (is_match(call.name)) return true;
  if (call.source.function != call.name && is_match(call.source.function)) return true;
  if (is_match(call.source.file)) return true;
  const Module* const module = call.location.module ? find_module(snapshot, *call.location.module) : nullptr;
  return module != nullptr && is_match(module->path);
}

}  // namespace hawk

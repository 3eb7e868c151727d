#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A template of LeakSanitizer's: its parts must occur in a text, in this order. '*' stands for any text, '^' at the
/// beginning and '$' at the end for those of the text; without them anything may stand there.
class SuppressionTemplate {
 public:
  explicit SuppressionTemplate(std::string_view text);

  /// As it was written.
  const std::string& text() const { return text_; }
  /// An empty text matches nothing.
  bool matches(std::string_view text) const;

 private:
  std::string text_;
  std::vector<std::string> parts_;  ///< between the '*'; never empty, each may be
  bool at_begin_ = false;
  bool at_end_ = false;
};

/// Stacks that are known and accepted, as LeakSanitizer's files of suppressions name them: a stack is suppressed if a
/// function, source file or module of any of its calls matches a rule.
struct Suppressions {
  std::string path;                        ///< of the file
  std::vector<SuppressionTemplate> rules;  ///< in its order: the first that matches a stack counts

  /// The first rule that matches a text of `call`.
  std::optional<std::size_t> rule_of(const ListedFrame& call, const Snapshot& snapshot) const;
};

/// Reads `text`: a line "leak:TEMPLATE" for each rule; empty lines and those that begin with '#' say nothing. Fails
/// with kFile on any other line. `path` is for messages.
Result<Suppressions> parse_suppressions(std::string_view text, const std::string& path);

/// The same of a file.
Result<Suppressions> read_suppressions(const std::string& path);

}  // namespace hawk

#include "userspace/views/tree_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/report/display_text.h"
#include "userspace/report/quantity.h"
#include "userspace/report/styled_line.h"
#include "userspace/views/call_paths.h"

namespace hawk {
namespace {

constexpr std::size_t kSmallPart = 200;   // a node of less than such a part of the whole is summed up
constexpr std::size_t kShareColumns = 7;  // "100.0 %"
constexpr std::size_t kMaxIndent = 40;    // columns; what is deeper stands there too
constexpr std::size_t kMinNameColumns = 24;
constexpr std::string_view kBranch = "- ";

class TreeText {
 public:
  TreeText(TextPage& page, const Snapshot& snapshot, CallPaths& paths, const Grouping& grouping)
      : page_(page),
        paths_(paths),
        grouping_(grouping),
        sort_(page.options().selection.sort),
        whole_(sort_value(snapshot.totals, sort_)) {}

  void put() {
    page_.put_wrapped(heading(), 2, Style::kStrong);
    StyledLine titles;
    titles.add(align_right("TOTAL", value_columns()), Style::kStrong).add("  ");
    titles.add(align_right("", kShareColumns)).add("  ");
    page_.put(titles.add(align_right("SELF", value_columns()), Style::kDim).add("  CALL", Style::kDim));
    // A stack of our own: calls are nested as deep as the target made them.
    std::vector<Line> pending;
    push_below(pending, paths_.root(), 0);
    while (!pending.empty() && page_.go_on()) {
      const Line line = pending.back();
      pending.pop_back();
      if (line.left_out != 0) {
        put_left_out(line);
        continue;
      }
      put_node(line);
      push_below(pending, line.node, line.indent + (line.is_branch ? kBranch.size() : 0));
    }
  }

 private:
  /// A node, or so many that are left out below `node`.
  struct Line {
    CallPaths::Node node = {};
    std::size_t indent = 0;
    bool is_branch = false;  ///< one of several calls of its caller
    std::size_t left_out = 0;
    std::uint64_t left_out_value = 0;
  };

  std::string heading() const {
    const std::string of = grouping_.split_by() ? fmt::format(", of each {}", group_kind_words(grouping_.by)) : "";
    return grouping_.tree == TreeDirection::kTopDown
               ? fmt::format("calls from the outermost function inwards (top-down){} by {}", of, sort_key_words(sort_))
               : fmt::format("functions that allocate and their callers (bottom-up){} by {}", of,
                             sort_key_words(sort_));
  }

  std::string value_text(std::uint64_t value) const {
    return sort_ == SortKey::kLive || sort_ == SortKey::kAllocated ? page_.bytes(value) : page_.count(value);
  }
  std::size_t value_columns() const { return std::max<std::size_t>(value_text(whole_).size(), 10); }

  bool is_small(const CallPaths::Node& node) const {
    const Selection& selection = page_.options().selection;
    const std::uint64_t value = sort_value(node.all, sort_);
    if (value == 0) return true;
    if (selection.min_size_bytes != 0) return !is_large_enough(node.all, selection);
    return selection.top != 0 && value < whole_ / kSmallPart;
  }

  /// Puts what is below `node` on the stack, the first last.
  void push_below(std::vector<Line>& pending, const CallPaths::Node& node, std::size_t indent) {
    const std::vector<CallPaths::Node> below = paths_.below(node, sort_);
    const std::size_t top = page_.options().selection.top;
    std::size_t shown = 0;
    while (shown < below.size() && (top == 0 || shown < top) && !is_small(below[shown])) ++shown;
    Line rest{.node = node, .indent = indent};
    for (std::size_t i = shown; i < below.size(); ++i) {
      const std::uint64_t value = sort_value(below[i].all, sort_);
      rest.left_out += value != 0 ? 1 : 0;
      rest.left_out_value += value;
    }
    rest.is_branch = shown + (rest.left_out != 0 ? 1 : 0) > 1;
    if (rest.left_out != 0) pending.push_back(rest);
    for (std::size_t i = shown; i-- > 0;) {
      pending.push_back({.node = below[i], .indent = indent, .is_branch = rest.is_branch});
    }
  }

  StyledLine numbers(std::uint64_t total, const std::string& self, const Line& of) const {
    StyledLine line;
    line.add(align_right(value_text(total), value_columns()), Style::kStrong).add("  ");
    line.add(align_right(format_share(total, whole_), kShareColumns)).add("  ");
    line.add(align_right(self, value_columns()), Style::kDim).add("  ");
    return std::move(
        line.add(std::string(std::min(of.indent, kMaxIndent), ' ')).add(of.is_branch ? kBranch : "", Style::kDim));
  }

  void put_node(const Line& line) {
    const std::uint64_t own = sort_value(line.node.own, sort_);
    StyledLine text = numbers(sort_value(line.node.all, sort_), own == 0 ? "" : value_text(own), line);
    const bool is_short = !page_.options().full_stacks;
    const std::string name = paths_.name_of(line.node, is_short);
    const std::size_t width = page_.options().width;
    const std::size_t room =
        width == 0 ? kMaxNameColumns : std::max(width - std::min(width, text.width()), kMinNameColumns);
    text.add(is_short ? shorten_middle(name, room) : name);
    page_.put(text);
  }

  void put_left_out(const Line& line) {
    StyledLine text = numbers(line.left_out_value, "", line);
    page_.put(text.add(fmt::format("… {} more {}", page_.count(line.left_out), line.left_out == 1 ? "call" : "calls"),
                       Style::kDim));
  }

  TextPage& page_;
  CallPaths& paths_;
  const Grouping& grouping_;
  const SortKey sort_;
  const std::uint64_t whole_;
};

}  // namespace

void put_call_tree(TextPage& page, const Snapshot& snapshot, const StackView& view, const CallTable& calls,
                   const Grouping& grouping) {
  CallPaths paths(snapshot, view, calls, grouping, page.options().full_stacks);
  TreeText(page, snapshot, paths, grouping).put();
}

}  // namespace hawk

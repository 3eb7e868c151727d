#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/report/sample_snapshots.h"
#include "userspace/screen/view.h"

namespace hawk {

inline ViewOptions sample_view_options() {
  ViewOptions options;
  options.selection.top = 0;
  options.role_of = sample_role_of;
  return options;
}

/// A view and its user: shows states, does things, and reads what is on the screen then.
class ScreenDriver {
 public:
  explicit ScreenDriver(ViewOptions options = sample_view_options(), std::size_t rows = 24, std::size_t columns = 120)
      : view_(std::move(options)), rows_(rows), columns_(columns) {}

  void show(Sample& sample) {
    symbolizer_ = &sample.symbolizer;
    view_.update(sample.snapshot);
    draw();
  }
  void resize(std::size_t rows, std::size_t columns) {
    rows_ = rows;
    columns_ = columns;
    draw();
  }
  Reaction press(Key key) { return take({.key = key}); }
  Reaction type(std::string_view text) {
    Reaction reaction = Reaction::kNone;
    for (const char character : text) reaction = take({.key = Key::kText, .text = std::string(1, character)});
    return reaction;
  }
  Reaction click(std::size_t row, std::size_t column) {
    return take({.key = Key::kClick, .row = row, .column = column});
  }

  /// As many lines as the screen has rows, cut to its columns.
  std::vector<std::string> lines() const {
    std::vector<std::string> text;
    for (const ScreenLine& line : drawn_) text.push_back(line.text.render(columns_, false));
    return text;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }
  bool contains(std::string_view part) const { return text().find(part) != std::string::npos; }
  /// The line with the cursor; "" where there is none.
  std::string selected() const {
    for (const ScreenLine& line : drawn_) {
      if (line.selected) return line.text.render(columns_, false);
    }
    return {};
  }
  /// The row of the first line that contains `part`; the number of rows where none does.
  std::size_t row_of(std::string_view part) const {
    const std::vector<std::string> all = lines();
    std::size_t row = 0;
    while (row < all.size() && all[row].find(part) == std::string::npos) ++row;
    return row;
  }
  const ScreenLines& drawn() const { return drawn_; }
  bool paused() const { return view_.paused(); }

 private:
  Reaction take(const ScreenEvent& event) {
    const Reaction reaction = view_.take(event);
    draw();
    return reaction;
  }
  void draw() { drawn_ = view_.render(rows_, columns_, *symbolizer_); }

  View view_;
  std::size_t rows_;
  std::size_t columns_;
  Symbolizer* symbolizer_ = nullptr;
  ScreenLines drawn_;
};

/// A service with `count` stacks, named function_0 and so on; function_0 holds most.
Sample long_sample(std::uint32_t count);

}  // namespace hawk

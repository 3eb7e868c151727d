#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/report/styled_line.h"
#include "userspace/report/text_options.h"
#include "userspace/report/text_sink.h"
#include "userspace/report/units.h"

namespace hawk {

/// The lines of a text report: laid out for the terminal's width, coloured if requested, written piece by
/// piece.
class TextPage {
 public:
  /// Both must outlive the page.
  TextPage(const TextOptions& options, const TextSink& sink) : options_(options), sink_(sink) {}

  void put(const StyledLine& line) { put_rendered(rendered(line)); }
  void put(std::string_view text, Style style = Style::kPlain) { put(StyledLine{}.add(text, style)); }
  /// Sentences and numbers are wrapped instead of being shortened like names: no number may be cut off.
  void put_wrapped(std::string_view text, std::size_t indent, Style style = Style::kPlain);
  /// Prose is wrapped even where lines may have any length.
  void put_hint(std::string_view text, std::size_t indent);
  /// A dim line that is printable and of so many columns: what StyledLine finds out takes longer than all else.
  void put_dim(std::string_view text, std::size_t columns);
  /// What rendered() gave.
  void put_rendered(std::string_view text) { out_ += text; }
  /// An empty line, unless the last one is.
  void end_section();

  /// A finished line including its newline, for lines that recur.
  std::string rendered(const StyledLine& line) const { return line.render(options_.width, options_.color) + "\n"; }

  /// Lines put so far.
  std::size_t line_count() const;
  /// Writes the text when it is as long as a piece. Returns whether the reader is still there.
  bool go_on();
  /// Hands on what is left.
  void finish();

  const TextOptions& options() const { return options_; }
  NumberStyle style() const { return options_.raw_bytes ? NumberStyle::kRaw : NumberStyle::kReadable; }
  std::string bytes(std::uint64_t value) const { return format_bytes(value, style()); }
  std::string blocks(std::uint64_t value) const { return format_blocks(value, style()); }
  std::string count(std::uint64_t value) const { return format_count(value, style()); }

 private:
  void flush();

  const TextOptions& options_;
  const TextSink& sink_;
  std::string out_;
  std::size_t lines_handed_on_ = 0;
  bool ends_empty_ = false;  ///< what was handed on last ends with an empty line
  bool wanted_ = true;       ///< the reader is still there
};

}  // namespace hawk

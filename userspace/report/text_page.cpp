#include "userspace/report/text_page.h"

#include <algorithm>

#include "userspace/report/display_text.h"

namespace hawk {
namespace {

constexpr std::size_t kProseColumns = 100;

}  // namespace

void TextPage::put_wrapped(std::string_view text, std::size_t indent, Style style) {
  for (const std::string& line : wrap_words(text, options_.width, indent)) put(line, style);
}

void TextPage::put_dim(std::string_view text, std::size_t columns) {
  const bool fits = options_.width == 0 || columns <= options_.width;
  if (options_.color || !fits || character_set() == CharacterSet::kAscii) {
    put(text, Style::kDim);
  } else {
    out_.append(text).append(1, '\n');
  }
}

void TextPage::put_hint(std::string_view text, std::size_t indent) {
  const std::size_t columns = options_.width == 0 ? kProseColumns : std::min(options_.width, kProseColumns);
  for (const std::string& line : wrap_words(text, columns, indent)) put(line);
}

void TextPage::end_section() {
  if (out_.empty() ? !ends_empty_ : !out_.ends_with("\n\n")) put("");
}

bool TextPage::go_on() {
  if (wanted_ && out_.size() >= kPieceBytes) flush();
  return wanted_;
}

void TextPage::finish() {
  if (wanted_) flush();
}

std::size_t TextPage::line_count() const {
  return lines_handed_on_ + static_cast<std::size_t>(std::count(out_.begin(), out_.end(), '\n'));
}

void TextPage::flush() {
  lines_handed_on_ = line_count();
  ends_empty_ = out_.ends_with("\n\n");
  wanted_ = sink_(out_);
  out_.clear();
}

}  // namespace hawk

#pragma once

#include <regex.h>

#include <string>

namespace hawk {

/// An extended regular expression (regex(7)), the C library's: std::regex recurses once for each character of a text,
/// and C++ names have tens of thousands.
class RegularExpression {
 public:
  enum class Case { kMatters, kIgnored };

  explicit RegularExpression(const std::string& text, Case letters = Case::kMatters);
  RegularExpression(const RegularExpression&) = delete;
  RegularExpression& operator=(const RegularExpression&) = delete;
  ~RegularExpression();

  /// Whether the text was one.
  bool is_valid() const { return error_ == 0; }
  /// Why it was none, in the C library's words; "" where it was.
  std::string error() const;
  /// Whether it matches within the first 4096 bytes of `text`: names have no limit, and the time that matching takes
  /// none either. It must be valid.
  bool matches(const std::string& text) const;

 private:
  regex_t compiled_ = {};
  int error_;
};

}  // namespace hawk

#include "userspace/base/demangled_name.h"

#include <cctype>
#include <vector>

namespace hawk {
namespace {

bool is_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$'; }

}  // namespace

std::size_t after_group(std::string_view text, std::size_t open) {
  std::vector<char> expected;
  for (std::size_t i = open; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') expected.push_back(')');
    if (c == '[') expected.push_back(']');
    if (c == '{') expected.push_back('}');
    if (c == '<') expected.push_back('>');
    if (c == '>' && (text[i - 1] == '-' || expected.back() != '>')) continue;
    if (c != ')' && c != ']' && c != '}' && c != '>') continue;
    while (expected.back() != c) {
      expected.pop_back();
      if (expected.empty()) return i + 1;
    }
    expected.pop_back();
    if (expected.empty()) return i + 1;
  }
  return text.size();
}

bool is_operator_at(std::string_view text, std::size_t i) {
  constexpr std::string_view kKeyword = "operator";
  if (!text.substr(i).starts_with(kKeyword)) return false;
  const std::size_t end = i + kKeyword.size();
  return (i == 0 || !is_identifier(text[i - 1])) && (end == text.size() || !is_identifier(text[end]));
}

bool is_declarator_at(std::string_view text, std::size_t i) {
  return text[i] == '(' && text.substr(i + 1, 1).find_first_of("*&") == 0;
}

std::string_view without_clone_mark(std::string_view function) { return function.substr(0, function.find(" [clone ")); }

}  // namespace hawk

#include "userspace/report/short_name.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "userspace/base/demangled_name.h"

namespace hawk {
namespace {

constexpr std::size_t kMaxArguments = 20;  // with their brackets; longer lists are elided
constexpr std::string_view kElided = "<...>";
constexpr std::string_view kStd = "std::";
/// Inline namespaces of libstdc++ and libc++, which sources omit.
constexpr std::array<std::string_view, 3> kInlineNamespaces = {"__cxx11::", "__1::", "__ndk1::"};

/// The usual name of std::basic_...<T, traits, allocator> for a character type.
struct CharacterType {
  std::string_view name;
  std::string_view prefix;
};
constexpr std::array<CharacterType, 5> kCharacterTypes = {
    {{"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}}};

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Takes `prefix` off the front of `text`.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Takes ", std::char_traits<char>" or ", std::allocator<char>" off the front of `text`.
bool take_argument(std::string_view& text, std::string_view of, std::string_view type) {
  std::string_view rest = text;
  if (!take(rest, ", std::") || !take(rest, of) || !take(rest, "<") || !take(rest, type) || !take(rest, ">"))
    return false;
  text = rest;
  return true;
}

/// The standard name of what `text`, from behind "std::basic_" on, begins with, which is taken off its front; "": it
/// has none.
std::string take_standard_name(std::string_view& text) {
  std::string_view rest = text;
  std::size_t length = 0;
  while (length < rest.size() && is_identifier(rest[length])) ++length;
  const std::string_view name = rest.substr(0, length);
  rest.remove_prefix(length);
  if (name.empty() || !take(rest, "<")) return {};
  for (const CharacterType& type : kCharacterTypes) {
    std::string_view arguments = rest;
    if (!take(arguments, type.name) || !take_argument(arguments, "char_traits", type.name)) continue;
    take_argument(arguments, "allocator", type.name);
    take(arguments, " ");
    if (!take(arguments, ">")) continue;
    text = arguments;
    return std::string(kStd).append(type.prefix).append(name);
  }
  return {};
}

std::string without_inline_namespaces(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; (at = text.find(kStd)) != std::string_view::npos;) {
    plain += text.substr(0, at + kStd.size());
    text.remove_prefix(at + kStd.size());
    for (const std::string_view name : kInlineNamespaces) take(text, name);
  }
  return plain.append(text);
}

/// `text`, which names no inline namespaces, with standard names: std::string.
std::string with_standard_names(std::string_view text) {
  constexpr std::string_view kBasic = "std::basic_";
  std::string named;
  for (std::size_t at = 0; (at = text.find(kBasic)) != std::string_view::npos;) {
    named += text.substr(0, at);
    text.remove_prefix(at + kBasic.size());
    const std::string name = take_standard_name(text);
    named += name.empty() ? kBasic : std::string_view(name);
    if (!name.empty() && text.starts_with(" >")) text.remove_prefix(1);
  }
  return named.append(text);
}

/// `text` with its outermost lists of template arguments elided where they are long.
std::string with_short_arguments(std::string_view text) {
  std::string shortened;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '<' ? after_group(text, i) : i + 1;
    const bool is_long = text[i] == '<' && end - i > kMaxArguments;
    shortened += is_long ? kElided : text.substr(i, end - i);
    i = end;
  }
  return shortened;
}

/// Reads a name from left to right and keeps what belongs to it.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : text_(text) {}

  /// "": what was read is no name of C++ or Rust.
  std::string read() {
    while (i_ < text_.size() && step()) {
    }
    if (has_return_type_ && !has_parameters_) return {};
    return std::move(name_);
  }

 private:
  /// The bracket at i_ with all that is in it.
  std::string_view take_group() {
    const std::size_t end = after_group(text_, i_);
    const std::string_view group = text_.substr(i_, end - i_);
    i_ = end;
    return group;
  }

  /// False: the name has ended.
  bool step() {
    const char c = text_[i_];
    if (is_operator_at(text_, i_)) {
      take_operator();
    } else if (c == ' ') {
      name_.clear();  // that was a return type
      has_return_type_ = true;
      ++i_;
    } else if (c == '(') {
      return take_parenthesis();
    } else if (c == '<') {
      take_arguments();
    } else if (c == '[') {
      if (const std::string_view group = take_group(); !group.starts_with("[abi:")) name_ += group;
    } else if (c == '{') {
      take_braces();
    } else {
      name_ += c;
      ++i_;
    }
    return true;
  }

  bool take_parenthesis() {
    if (text_.substr(i_).starts_with(kAnonymousNamespace)) {
      take_group();
      if (text_.substr(i_).starts_with("::")) i_ += 2;
    } else if (name_.ends_with('.')) {
      name_ += take_group();  // Go: main.(*Server).Serve
    } else if (name_.empty() && is_declarator_at(text_, i_)) {
      i_ += 2;  // void (*pick<int>(int))(char): the name stands inside
    } else if (name_.empty() || name_ == "decltype") {
      take_group();  // a return type
    } else {
      take_group();  // parameters; what is local to the function may follow
      has_parameters_ = true;
      while (take_qualifier()) {
      }
      return text_.substr(i_).starts_with("::");
    }
    return true;
  }

  bool take_qualifier() {
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &", " noexcept"}) {
      if (!text_.substr(i_).starts_with(qualifier)) continue;
      i_ += qualifier.size();
      return true;
    }
    return false;
  }

  void take_arguments() {
    const std::string_view group = take_group();
    // The type and trait of a Rust method: without them it has no name.
    if (name_.empty() && group.size() > 2) {
      name_ += '<' + with_short_arguments(group.substr(1, group.size() - 2)) + '>';
    } else {
      name_ += group.size() > kMaxArguments ? kElided : group;
    }
  }

  /// {lambda(int)#1}, {unnamed type#1}.
  void take_braces() {
    const std::string_view group = take_group();
    const std::size_t open = group.find('(');
    if (open == std::string_view::npos) {
      name_ += group;
    } else {
      name_.append(group.substr(0, open)).append(group.substr(after_group(group, open)));
    }
  }

  /// operator(), operator<<, operator new[], operator std::string.
  void take_operator() {
    constexpr std::string_view kKeyword = "operator";
    name_ += kKeyword;
    i_ += kKeyword.size();
    if (text_.substr(i_).starts_with("()")) {
      name_ += "()";
      i_ += 2;
      return;
    }
    // A keyword, a type or a literal's suffix.
    const std::string_view next = text_.substr(i_);
    if (next.starts_with('"') || (next.starts_with(' ') && !next.starts_with(" <"))) {
      const std::size_t start = i_;
      while (i_ < text_.size() && text_[i_] != '(') i_ = text_[i_] == '<' ? after_group(text_, i_) : i_ + 1;
      name_ += with_short_arguments(text_.substr(start, i_ - start));
      return;
    }
    const std::size_t end = std::min(text_.find_first_of(" (", i_), text_.size());
    name_ += text_.substr(i_, end - i_);
    i_ = end;
    if (text_.substr(i_).starts_with(" <")) ++i_;
  }

  std::string_view text_;
  std::size_t i_ = 0;
  std::string name_;
  bool has_return_type_ = false;
  bool has_parameters_ = false;
};

}  // namespace

std::string short_name(std::string_view function) {
  const std::string text = with_standard_names(without_inline_namespaces(without_clone_mark(function)));
  std::string name = NameReader(text).read();
  // Unknown syntax: the name is shown as it is in the file.
  return name.empty() ? text : name;
}

}  // namespace hawk

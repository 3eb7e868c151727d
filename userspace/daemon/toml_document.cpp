// The only file that sees toml++. Its assertions hold for no input that the authors thought of, and they are stripped
// where NDEBUG is set, to become assumptions of the compiler: here each of them is an exception instead.
#include "userspace/daemon/toml_document.h"

#undef NDEBUG
namespace {
struct BrokenAssertion {};
[[noreturn]] void throw_broken_assertion() { throw BrokenAssertion(); }
}  // namespace
#define TOML_ASSERT(expression)                  \
  do {                                           \
    if (!(expression)) throw_broken_assertion(); \
  } while (false)
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <fmt/core.h>
#include <toml++/toml.h>

#include <algorithm>

namespace hawk {
namespace {

constexpr std::size_t kMostDots = 16;
constexpr const char* kHint = "hawktrace config --example prints a file with every key";

tl::unexpected<Error> refuse(const std::string& file, std::uint32_t line, std::string_view why) {
  return fail(ExitCode::kUsage, fmt::format("{}:{}: {}", file, line, why), kHint);
}

/// Copies the tree, so that nothing else depends on the library.
class Copier {
 public:
  explicit Copier(const std::string& file) : file_(file) {}

  Result<TomlValue::Table> table(const toml::table& table) {
    TomlValue::Table entries;
    for (const auto& [key, node] : table) {
      entries.push_back({std::string(key.str()), HAWK_TRY(value(node))});
    }
    return entries;
  }

 private:
  Result<TomlValue> value(const toml::node& node) {
    const std::uint32_t line = static_cast<std::uint32_t>(node.source().begin.line);
    if (const auto* flag = node.as_boolean()) return TomlValue{flag->get(), line};
    if (const auto* number = node.as_integer()) return TomlValue{number->get(), line};
    if (const auto* number = node.as_floating_point()) return TomlValue{number->get(), line};
    if (const auto* text = node.as_string()) return TomlValue{text->get(), line};
    if (const auto* inner = node.as_table()) return TomlValue{HAWK_TRY(table(*inner)), line};
    if (const auto* array = node.as_array()) {
      TomlValue::Array values;
      for (const toml::node& element : *array) values.push_back(HAWK_TRY(value(element)));
      return TomlValue{std::move(values), line};
    }
    return refuse(file_, line, "dates and times have no meaning here");
  }

  const std::string& file_;
};

/// Dots outside of strings and comments, if they end where the line does.
std::size_t count_dots(std::string_view line) {
  std::size_t dots = 0;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#') {
      break;
    } else if (c == '.') {
      ++dots;
    }
  }
  return dots;
}

/// The document without its lines of comments, which have the same number of lines. Outside of them only ASCII is
/// taken: for letters such as U+048A toml++ (3.3) looks up what its authors took to be unreachable.
Result<std::string> without_comments(std::string_view text, const std::string& file) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // of UTF-8
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  std::string kept;
  std::uint32_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view whole = text.substr(at, end - at);
    at = end;
    const std::size_t first = whole.find_first_not_of(" \t");
    if (first != std::string_view::npos && whole[first] == '#') {
      kept += '\n';
      continue;
    }
    if (std::any_of(whole.begin(), whole.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
      return fail(ExitCode::kUsage, fmt::format("{}:{}: a letter that is not ASCII", file, line),
                  "write it as \"\\u00e9\", or in a comment on a line of its own");
    }
    // Tables within tables: toml++ goes into each by a call, as deep as a key has parts.
    if (count_dots(whole) > kMostDots) {
      return refuse(file, line, fmt::format("there are more than {} dots: keys have a few parts", kMostDots));
    }
    kept += whole;
  }
  return kept;
}

}  // namespace

Result<TomlValue::Table> parse_toml(std::string_view text, const std::string& file) {
  if (text.size() > kMaxTomlBytes) {
    return refuse(file, 1, fmt::format("the file is larger than {} bytes", kMaxTomlBytes));
  }
  const std::string ascii = HAWK_TRY(without_comments(text, file));
  try {
    return Copier(file).table(toml::parse(ascii, file));
  } catch (const toml::parse_error& error) {
    return refuse(file, static_cast<std::uint32_t>(error.source().begin.line), error.description());
  } catch (const BrokenAssertion&) {
    return refuse(file, 1, "the file is no TOML document, and the parser cannot say where");
  }
}

}  // namespace hawk

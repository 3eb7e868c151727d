#include "userspace/serving/http_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace hawk {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }
/// What names of methods and headers are made of.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [kOthers](char c) {
    return is_letter_or_digit(c) || kOthers.find(c) != std::string_view::npos;
  });
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

/// nullopt: it is malformed, or hides a control character.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '%') {
      if (text.size() - at < 3) return std::nullopt;
      const std::optional<unsigned> high = hex_digit(text[at + 1]);
      const std::optional<unsigned> low = hex_digit(text[at + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      at += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (is_control(c)) return std::nullopt;
    decoded += c;
  }
  return decoded;
}

/// Takes what is before `separator` off the front, and the separator; all of it where there is none.
std::string_view take_until(std::string_view& text, std::string_view separator) {
  const std::string_view piece = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(piece.size() + separator.size(), text.size()));
  return piece;
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

class HeadParser {
 public:
  explicit HeadParser(std::string_view head) : rest_(head.substr(0, head.size() - kHeadEnd.size())) {}

  std::variant<HttpRequest, HttpRefusal> parse() {
    if (take_request_line() && take_headers() && check_headers()) return std::move(request_);
    return refusal_;
  }

 private:
  bool refuse(int status, const char* reason) {
    refusal_ = {status, reason};
    return false;
  }

  bool take_request_line() {
    std::string_view line = take_until(rest_, kLineEnd);
    const std::string_view method = take_until(line, " ");
    const std::string_view target = take_until(line, " ");
    if (!is_token(method) || target.empty()) return refuse(400, "malformed request line");
    request_.method = method;
    if (line != "HTTP/1.1" && line != "HTTP/1.0") {
      return line.starts_with("HTTP/") ? refuse(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
                                       : refuse(400, "malformed request line");
    }
    is_old_ = line == "HTTP/1.0";
    return take_target(target);
  }

  bool take_target(std::string_view target) {
    const bool is_plain = std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!is_plain || !target.starts_with('/')) return refuse(400, "malformed path");
    std::string_view path = take_until(target, "?");
    for (path.remove_prefix(1); !path.empty();) {
      std::optional<std::string> segment = percent_decoded(take_until(path, "/"), false);
      if (!segment) return refuse(400, "malformed path");
      request_.path.push_back(std::move(*segment));
    }
    while (!target.empty()) {
      std::string_view pair = take_until(target, "&");
      std::optional<std::string> name = percent_decoded(take_until(pair, "="), true);
      std::optional<std::string> value = percent_decoded(pair, true);
      if (!name || !value) return refuse(400, "malformed query");
      if (!name->empty()) request_.query.insert_or_assign(std::move(*name), std::move(*value));
    }
    return true;
  }

  bool take_headers() {
    while (!rest_.empty()) {
      std::string_view line = take_until(rest_, kLineEnd);
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        return refuse(400, "malformed header");
      }
      const std::string_view value = without_blanks(line.substr(colon + 1));
      const auto is_foreign = [](char c) { return is_control(c) && c != '\t'; };
      if (std::any_of(value.begin(), value.end(), is_foreign)) return refuse(400, "malformed header");
      if (request_.headers.size() == kMaxHeaders) return refuse(431, "too many headers");
      request_.headers.emplace_back(lower_case(line.substr(0, colon)), value);
    }
    return true;
  }

  std::size_t count(std::string_view name) const {
    return static_cast<std::size_t>(std::count_if(request_.headers.begin(), request_.headers.end(),
                                                  [name](const auto& header) { return header.first == name; }));
  }

  bool check_headers() {
    if (count("host") > 1 || (count("host") == 0 && !is_old_)) return refuse(400, "one header Host is needed");
    if (count("authorization") > 1) return refuse(400, "more than one header Authorization");
    if (count("transfer-encoding") > 0) return refuse(400, "a request has no body here");
    for (const auto& [name, value] : request_.headers) {
      if (name == "content-length" && value != "0") return refuse(400, "a request has no body here");
    }
    const std::string* connection = request_.header("connection");
    const std::string wanted = connection == nullptr ? "" : lower_case(*connection);
    request_.keeps_alive = is_old_ ? wanted == "keep-alive" : wanted.find("close") == std::string::npos;
    return true;
  }

  std::string_view rest_;
  bool is_old_ = false;
  HttpRequest request_;
  HttpRefusal refusal_;
};

}  // namespace

const std::string* HttpRequest::header(std::string_view name) const {
  const auto found =
      std::find_if(headers.begin(), headers.end(), [name](const auto& header) { return header.first == name; });
  return found == headers.end() ? nullptr : &found->second;
}

std::size_t head_length(std::string_view received, std::size_t& searched) {
  const std::size_t end = received.find(kHeadEnd, searched);
  if (end != std::string_view::npos) return end + kHeadEnd.size();
  // The end may have begun in the last three bytes.
  searched = received.size() < kHeadEnd.size() ? 0 : received.size() - (kHeadEnd.size() - 1);
  return 0;
}

std::variant<HttpRequest, HttpRefusal> parse_request_head(std::string_view head) { return HeadParser(head).parse(); }

std::string url_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_letter_or_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      encoded += c;
    } else {
      fmt::format_to(std::back_inserter(encoded), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

}  // namespace hawk

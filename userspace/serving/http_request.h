#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace hawk {

/// The head of a request may be so long, and have so many headers.
inline constexpr std::size_t kMaxHeadBytes = 8192;
inline constexpr std::size_t kMaxHeaders = 64;

/// A request without a body. Everything in it was chosen by the client; control characters are in none of it.
struct HttpRequest {
  std::string method;                                        ///< "GET", and what else clients may think of
  std::vector<std::string> path;                             ///< decoded, between the slashes: {"targets", "a/b"}
  std::map<std::string, std::string> query;                  ///< decoded; of several values of a name the last one
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  bool keeps_alive = true;

  /// The value of the first header of that name (in lower case); nullptr: there is none.
  const std::string* header(std::string_view name) const;
};

/// Why a request is refused: a status of HTTP, and a sentence about it that quotes nothing of the request.
struct HttpRefusal {
  int status = 400;
  std::string reason;
  bool operator==(const HttpRefusal&) const = default;
};

/// The length of the head at the front of `received`, its empty line included; 0: it is not complete. `searched`: where
/// a search before this one has ended; 0 at first.
std::size_t head_length(std::string_view received, std::size_t& searched);

/// The request of a whole head. Strict: what two readers might understand in two ways is refused, as are bodies.
std::variant<HttpRequest, HttpRefusal> parse_request_head(std::string_view head);

/// Percent-encoded for a path or a query, so that parse_request_head() gives it back.
std::string url_encoded(std::string_view text);

}  // namespace hawk

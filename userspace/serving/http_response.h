#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hawk {

/// An answer. Everything but the body is ours.
struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< besides those of every answer
};

/// "404 Not Found" as an answer of one line.
HttpResponse plain_response(int status, std::string_view text);

/// The head of the answer, its empty line included.
std::string response_head(const HttpResponse& response, bool keeps_alive);

}  // namespace hawk

#include "userspace/serving/http_response.h"

#include <fmt/core.h>

#include <iterator>

namespace hawk {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Error";
  }
}

}  // namespace

HttpResponse plain_response(int status, std::string_view text) {
  HttpResponse response;
  response.status = status;
  response.body = fmt::format("{}\n", text);
  return response;
}

std::string response_head(const HttpResponse& response, bool keeps_alive) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
      response.status, reason_of(response.status), response.content_type, response.body.size(),
      keeps_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : response.headers) {
    fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
  }
  return head + "\r\n";
}

}  // namespace hawk

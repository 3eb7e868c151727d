// The head of a request, as a client may send it to the daemon, in two pieces: the first byte says where it is cut.
#include <algorithm>
#include <string>
#include <variant>

#include "tests/fuzz/fuzz_input.h"
#include "userspace/serving/access.h"
#include "userspace/serving/http_request.h"

namespace {

bool has_control(const std::string& text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

void check_request(const hawk::HttpRequest& request) {
  HAWK_CHECK(!request.method.empty() && !has_control(request.method), "a method is a word");
  HAWK_CHECK(request.headers.size() <= hawk::kMaxHeaders, "headers are bounded");
  std::string target = "GET ";
  for (const std::string& segment : request.path) {
    HAWK_CHECK(!has_control(segment), "nothing in a path commands a terminal");
    target += "/" + hawk::url_encoded(segment);
  }
  if (request.path.empty()) target += "/";
  if (!request.path.empty() && request.path.back().empty()) target += "/";
  char separator = '?';
  for (const auto& [name, value] : request.query) {
    HAWK_CHECK(!name.empty() && !has_control(name) && !has_control(value), "nor in a query");
    target += separator + hawk::url_encoded(name) + "=" + hawk::url_encoded(value);
    separator = '&';
  }
  const auto again = hawk::parse_request_head(target + " HTTP/1.1\r\nHost: a\r\n\r\n");
  const auto* same = std::get_if<hawk::HttpRequest>(&again);
  HAWK_CHECK(same != nullptr && same->path == request.path && same->query == request.query, "encoding is undone");
  for (const auto& [name, value] : request.headers) {
    HAWK_CHECK(!name.empty() && !has_control(name) && !has_control(value), "headers are plain text");
    HAWK_CHECK(request.header(name) != nullptr, "a header is found by its name");
  }
  if (const std::string* host = request.header("host")) {
    HAWK_CHECK(hawk::host_of(*host).size() <= host->size(), "a host is a part of the header");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = hawk::fuzz::as_text(data + 1, size - 1);
  std::size_t searched = 0;
  std::size_t length = hawk::head_length(text.substr(0, data[0]), searched);
  if (length == 0) length = hawk::head_length(text, searched);
  std::size_t from_start = 0;
  HAWK_CHECK(length == hawk::head_length(text, from_start), "pieces do not matter");
  if (length == 0) return 0;
  HAWK_CHECK(text.substr(0, length).ends_with("\r\n\r\n"), "a head ends with an empty line");
  const auto parsed = hawk::parse_request_head(text.substr(0, length));
  if (const auto* refusal = std::get_if<hawk::HttpRefusal>(&parsed)) {
    HAWK_CHECK(refusal->status >= 400 && !refusal->reason.empty(), "a refusal says why");
  } else {
    check_request(std::get<hawk::HttpRequest>(parsed));
  }
  return 0;
}

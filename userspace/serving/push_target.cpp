#include "userspace/serving/push_target.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "userspace/base/printable.h"
#include "userspace/serving/http_request.h"
#include "userspace/serving/secret_file.h"

namespace hawk {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;
constexpr std::chrono::seconds kShortestPush{1};
constexpr const char* kUrlHint = "such as https://pyroscope.example:4040";

bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name_part(char c) { return is_name_start(c) || (c >= '0' && c <= '9'); }

/// What Pyroscope takes for the name of a label.
bool is_label_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::all_of(name.begin(), name.end(), is_name_part);
}

bool is_application(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(),
                                      [](char c) { return is_name_part(c) || c == '-' || c == '.' || c == '/'; });
}

/// The form of labels ends with these characters, and has no way to quote them.
std::string label_value(std::string_view text) {
  std::string value = printable_unicode(text);
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == ',' || c == '}' || c == '{' || c == '='; }, '_');
  return value;
}

tl::unexpected<Error> not_a_url(const std::string& text) {
  return fail(ExitCode::kUsage, fmt::format("url: '{}' is not a URL of http or https", text), kUrlHint);
}

bool is_host_character(char c) { return is_name_part(c) || c == '-' || c == '.' || c == ':'; }

/// "host", "host:1", "[::1]:1".
bool take_authority(std::string_view authority, HttpUrl& url) {
  const bool has_brackets = authority.starts_with('[');
  const std::size_t host_end = has_brackets ? authority.find(']') : authority.find(':');
  const std::string_view host = authority.substr(0, host_end);
  url.host = host.substr(has_brackets ? 1 : 0);
  std::string_view rest = host_end == std::string_view::npos ? "" : authority.substr(host_end + (has_brackets ? 1 : 0));
  if (url.host.empty() || !std::all_of(url.host.begin(), url.host.end(), is_host_character)) return false;
  if (has_brackets && host_end == std::string_view::npos) return false;
  if (rest.empty()) return true;
  if (!rest.starts_with(':')) return false;
  rest.remove_prefix(1);
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), url.port);
  return error == std::errc() && end == rest.data() + rest.size() && url.port != 0;
}

}  // namespace

Result<HttpUrl> parse_http_url(const std::string& text) {
  HttpUrl url;
  std::string_view rest = text;
  if (rest.starts_with("https://")) {
    url.is_encrypted = true;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return not_a_url(text);
  }
  url.port = url.is_encrypted ? kHttpsPort : kHttpPort;
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (!take_authority(rest.substr(0, slash), url)) return not_a_url(text);
  url.path = rest.substr(slash);
  const auto is_plain = [](char c) { return c > ' ' && c < 0x7f && c != '?' && c != '#'; };
  if (!std::all_of(url.path.begin(), url.path.end(), is_plain)) return not_a_url(text);
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

std::string host_header(const HttpUrl& url) {
  const std::string host = url.host.find(':') == std::string::npos ? url.host : fmt::format("[{}]", url.host);
  const bool is_usual = url.port == (url.is_encrypted ? kHttpsPort : kHttpPort);
  return is_usual ? host : fmt::format("{}:{}", host, url.port);
}

Result<PushTarget> plan_push(const PushOptions& options) {
  PushTarget push = {.url = HAWK_TRY(parse_http_url(options.url)),
                     .every = options.every,
                     .application = options.application,
                     .labels = options.labels,
                     .headers = {},
                     .tls = {}};
  if (options.every < kShortestPush) {
    return fail(ExitCode::kUsage, "every: a profile can be sent once a second at most", "such as every = \"15s\"");
  }
  if (!is_application(options.application)) {
    return fail(ExitCode::kUsage, fmt::format("application: '{}' is not a name", options.application),
                "letters, digits and any of _-./");
  }
  for (const auto& [name, value] : options.labels) {
    if (!is_label_name(name) || name == "target" || name.starts_with("__")) {
      return fail(ExitCode::kUsage, fmt::format("labels: '{}' cannot be the name of a label", name),
                  "letters, digits and _, no digit first; the label target is hawktrace's own");
    }
    if (label_value(value) != value || value.empty()) {
      return fail(ExitCode::kUsage, fmt::format("labels: {}: '{}' cannot be the value of a label", name, value),
                  "without control characters and any of ,={}");
    }
  }
  if (!options.token_file.empty()) {
    if (!push.url.is_encrypted) {
      return fail(ExitCode::kUsage, "token-file: a token is not sent unencrypted", "use a URL of https");
    }
    push.headers.emplace_back("Authorization", "Bearer " + HAWK_TRY(read_token_file(options.token_file)));
  }
  if (!options.tenant.empty()) {
    const bool is_plain =
        std::all_of(options.tenant.begin(), options.tenant.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (!is_plain) return fail(ExitCode::kUsage, fmt::format("tenant: '{}' is not a name", options.tenant));
    push.headers.emplace_back("X-Scope-OrgID", options.tenant);
  }
  if (push.url.is_encrypted) push.tls = HAWK_TRY(TlsContext::of_client(options.ca_file));
  return push;
}

std::string ingest_path(const PushTarget& push, const std::string& target, std::uint64_t from, std::uint64_t until) {
  std::string name = fmt::format("{}{{target={}", push.application, label_value(target));
  for (const auto& [label, value] : push.labels) fmt::format_to(std::back_inserter(name), ",{}={}", label, value);
  return fmt::format("{}/ingest?name={}&from={}&until={}&format=pprof&spyName=hawktrace", push.url.path,
                     url_encoded(name + "}"), from, until);
}

}  // namespace hawk

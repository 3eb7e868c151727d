#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/serving/serving_options.h"
#include "userspace/serving/tls.h"

namespace hawk {

/// "https://host:4040/base", taken apart.
struct HttpUrl {
  bool is_encrypted = false;
  std::string host;  ///< without brackets
  std::uint16_t port = 0;
  std::string path;  ///< "/base"; empty: "/"
  bool operator==(const HttpUrl&) const = default;
};

/// `text` is of http or https, without user, query and fragment.
Result<HttpUrl> parse_http_url(const std::string& text);
/// The header Host: the port where it is not the usual one.
std::string host_header(const HttpUrl& url);

/// Where profiles are sent, and as what.
struct PushTarget {
  HttpUrl url;
  std::chrono::milliseconds every{};
  std::string application;
  std::map<std::string, std::string> labels;
  std::vector<std::pair<std::string, std::string>> headers;  ///< who sends
  std::optional<TlsContext> tls;                             ///< of https

  bool operator==(const PushTarget&) const = delete;
};

/// An error begins with the key that it is about.
Result<PushTarget> plan_push(const PushOptions& options);

/// "/base/ingest?name=...": the path for a profile of the served target `target` and the period between these times, in
/// seconds since 1970, as Pyroscope takes it.
std::string ingest_path(const PushTarget& push, const std::string& target, std::uint64_t from, std::uint64_t until);

}  // namespace hawk

#include "userspace/serving/access.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <utility>

#include "userspace/serving/openssl.h"

namespace hawk {
namespace {

constexpr std::string_view kBearer = "Bearer ";

bool is_in_figures(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return ::inet_pton(AF_INET, host.c_str(), bytes.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1;
}

}  // namespace

std::string host_of(std::string_view host_and_port) {
  std::string_view host = host_and_port;
  if (host.starts_with('[')) {
    host = host.substr(1, std::min(host.find(']'), host.size()) - 1);
  } else {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string lower(host);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

Access::Access(const std::string& token, const std::vector<std::string>& hosts) : hosts_{"localhost"} {
  if (!token.empty()) token_ = digest_of(token);
  for (const std::string& host : hosts) hosts_.push_back(host_of(host));
}

std::optional<HttpResponse> Access::refusal(const HttpRequest& request, const HttpPeer& peer) const {
  if (peer.is_unix) return std::nullopt;
  if (token_) {
    if (is_token(request)) return std::nullopt;
    HttpResponse response = plain_response(401, "a token is needed");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  const std::string* site = request.header("sec-fetch-site");
  if (site != nullptr && *site == "cross-site") return plain_response(403, "not for other sites");
  const std::string* host = request.header("host");
  if (host == nullptr || is_known_host(host_of(*host))) return std::nullopt;
  return plain_response(421, "this server is not known by that name: see allowed-hosts");
}

Access::Digest Access::digest_of(std::string_view text) {
  Digest digest{};
  openssl::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

/// Takes the same time whatever is wrong with it.
bool Access::is_token(const HttpRequest& request) const {
  const std::string* given = request.header("authorization");
  if (given == nullptr || !given->starts_with(kBearer)) return false;
  const Digest digest = digest_of(std::string_view(*given).substr(kBearer.size()));
  return openssl::CRYPTO_memcmp(digest.data(), token_->data(), digest.size()) == 0;
}

bool Access::is_known_host(const std::string& host) const {
  return is_in_figures(host) || std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end();
}

}  // namespace hawk

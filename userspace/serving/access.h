#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "userspace/serving/http_request.h"
#include "userspace/serving/http_response.h"
#include "userspace/serving/http_server.h"

namespace hawk {

/// Who may ask. A unix socket is guarded by its file's mode. Elsewhere a token is asked for, if there is one; without,
/// the name that the client believes to talk to must be an address or known: a web page whose name has been made to
/// lead here (DNS rebinding) is called by that name.
class Access {
 public:
  /// `token` empty: none is asked for. `hosts`: known names besides localhost.
  Access(const std::string& token, const std::vector<std::string>& hosts);

  /// nullopt: the client may.
  std::optional<HttpResponse> refusal(const HttpRequest& request, const HttpPeer& peer) const;

 private:
  using Digest = std::array<unsigned char, 32>;
  static Digest digest_of(std::string_view text);
  bool is_token(const HttpRequest& request) const;
  bool is_known_host(const std::string& host) const;

  std::optional<Digest> token_;
  std::vector<std::string> hosts_;
};

/// The host in "host:port" or "[address]:port", in lower case, without brackets.
std::string host_of(std::string_view host_and_port);

}  // namespace hawk

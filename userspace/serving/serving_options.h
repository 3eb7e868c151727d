#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace hawk {

/// What is sent to a Pyroscope server, unasked. Keys: those of the table [push].
struct PushOptions {
  std::string url = {};                       ///< "https://pyroscope.example:4040"; empty: nothing is sent
  std::chrono::milliseconds every{15'000};    ///< the period of each profile
  std::string application = "hawktrace";      ///< the targets are told apart by the label `target`
  std::map<std::string, std::string> labels;  ///< of every profile, besides those of the target
  std::string tenant = {};                    ///< X-Scope-OrgID; empty: none
  std::string token_file = {};                ///< of a bearer token; empty: none
  std::string ca_file = {};                   ///< certificates to trust in place of the system's
};

/// How the daemon is reached. Keys: those of the table [serve], and [push].
struct ServingOptions {
  /// "127.0.0.1:9817", "[::1]:9817", "unix:/run/hawktrace/hawktrace.sock". Any address but those of this host needs a
  /// token and TLS.
  std::vector<std::string> listen = {"127.0.0.1:9817", "unix:/run/hawktrace/hawktrace.sock"};
  std::string token_file = {};  ///< of the bearer token that requests must have; empty: none is asked for
  std::string tls_certificate_file = {};
  std::string tls_key_file = {};
  /// Names by which the server may be called (the header Host), besides its addresses and localhost.
  std::vector<std::string> allowed_hosts = {};
  std::size_t top_stacks = 0;  ///< of each target, in /metrics; at most kMaxTopStacks
  PushOptions push = {};
};

/// Stacks are series, and series cost the reader's memory.
inline constexpr std::size_t kMaxTopStacks = 20;

}  // namespace hawk

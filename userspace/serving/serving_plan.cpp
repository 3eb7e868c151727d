#include "userspace/serving/serving_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "userspace/serving/secret_file.h"

namespace hawk {
namespace {

/// An error about `key`, which its message need not begin with.
tl::unexpected<Error> about(const char* key, Error error) {
  error.what = fmt::format("{}: {}", key, error.what);
  return tl::unexpected<Error>(std::move(error));
}

Result<std::optional<TlsContext>> plan_tls(const ServingOptions& options) {
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty()) {
    return fail(ExitCode::kUsage, "tls-certificate-file: there must be a tls-key-file, and the other way round");
  }
  if (options.tls_certificate_file.empty()) return std::optional<TlsContext>();
  Result<TlsContext> context = TlsContext::of_server(options.tls_certificate_file, options.tls_key_file);
  if (!context) return about("tls-certificate-file", std::move(context).error());
  return std::optional(std::move(*context));
}

Result<void> check_reach(const ListenAddress& address, const ServingOptions& options) {
  if (address.is_local() || (!options.token_file.empty() && !options.tls_certificate_file.empty())) return {};
  return fail(ExitCode::kUsage,
              fmt::format("listen: {}: other hosts can reach this address, and names and call stacks are private data",
                          address.host),
              "set token-file, tls-certificate-file and tls-key-file, or listen at 127.0.0.1");
}

}  // namespace

Result<ServingPlan> plan_serving(const ServingOptions& options) {
  std::vector<ListenAddress> addresses;
  for (const std::string& text : options.listen) {
    ListenAddress address = HAWK_TRY(parse_listen_address(text));
    HAWK_TRY_VOID(check_reach(address, options));
    if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
  }
  if (options.top_stacks > kMaxTopStacks) {
    return fail(ExitCode::kUsage, fmt::format("top-stacks: {} are too many", options.top_stacks),
                fmt::format("at most {}: each is a series of its own", kMaxTopStacks));
  }
  std::string token;
  if (!options.token_file.empty()) {
    Result<std::string> read = read_token_file(options.token_file);
    if (!read) return about("token-file", std::move(read).error());
    token = std::move(*read);
  }
  // Not among the initializers: a return from between them destroys none of those before (GCC 12).
  Result<std::optional<TlsContext>> tls = plan_tls(options);
  if (!tls) return tl::unexpected<Error>(std::move(tls).error());
  ServingPlan plan = {.addresses = std::move(addresses),
                      .access = Access(token, options.allowed_hosts),
                      .tls = std::move(*tls),
                      .top_stacks = options.top_stacks,
                      .push = {}};
  if (!options.push.url.empty()) {
    Result<PushTarget> push = plan_push(options.push);
    if (!push) return about("push", std::move(push).error());
    plan.push = std::move(*push);
  }
  return plan;
}

}  // namespace hawk

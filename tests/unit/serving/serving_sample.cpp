// Serves fake targets, for clients_test.py: serving_sample KEY=VALUE... with the keys of the configuration. Prints the
// addresses that it listens at, and an empty line. Each line on stdin says what the target shop is from now on; the end
// of stdin ends it.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tests/unit/serving/fake_targets.h"
#include "userspace/base/log.h"
#include "userspace/serving/serving.h"

namespace hawk {
namespace {

bool set(ServingOptions& options, std::string_view key, const std::string& value) {
  if (key == "listen")
    options.listen.push_back(value);
  else if (key == "token-file")
    options.token_file = value;
  else if (key == "tls-certificate-file")
    options.tls_certificate_file = value;
  else if (key == "tls-key-file")
    options.tls_key_file = value;
  else if (key == "allowed-host")
    options.allowed_hosts.push_back(value);
  else if (key == "top-stacks")
    options.top_stacks = std::stoul(value);
  else if (key == "push-url")
    options.push.url = value;
  else if (key == "push-ca-file")
    options.push.ca_file = value;
  else if (key == "push-token-file")
    options.push.token_file = value;
  else if (key == "push-tenant")
    options.push.tenant = value;
  else if (key == "push-label")
    options.push.labels["zone"] = value;
  else if (key == "push-every")
    options.push.every = std::chrono::milliseconds(std::stoul(value));
  else
    return false;
  return true;
}

Result<void> serve(const ServingOptions& options) {
  EventLoop loop;
  FakeTargets targets;
  const std::unique_ptr<Serving> serving = HAWK_TRY(Serving::make(loop, options, targets));
  loop.watch(STDIN_FILENO, [&](short) -> Result<void> {
    std::array<char, 64> line{};
    const ssize_t count = ::read(STDIN_FILENO, line.data(), line.size());
    if (count <= 0) loop.end();
    const std::string_view word(line.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    if (word == "later\n") targets.set_age(FakeTargets::Age::kLater);
    if (word == "shrunk\n") targets.set_age(FakeTargets::Age::kShrunk);
    std::printf("%zu\n", targets.heaps());
    std::fflush(stdout);
    return {};
  });
  for (const std::string& address : serving->addresses()) std::puts(address.c_str());
  std::puts("");
  std::fflush(stdout);
  return loop.run();
}

int sample_main(int argc, char** argv) {
  ServingOptions options;
  options.listen.clear();
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    if (!set(options, word.substr(0, equals), std::string(word.substr(equals + 1)))) return 2;
  }
  const Result<void> result = serve(options);
  if (!result) log_error(result.error());
  return result ? 0 : static_cast<int>(result.error().exit_code);
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) { return hawk::sample_main(argc, argv); }

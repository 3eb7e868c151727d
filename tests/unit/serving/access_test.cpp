#include "userspace/serving/access.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace hawk {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

int status_of(const Access& access, Headers headers, bool is_unix = false) {
  HttpRequest request;
  request.headers = std::move(headers);
  const std::optional<HttpResponse> refusal = access.refusal(request, {.is_unix = is_unix});
  return refusal ? refusal->status : 200;
}

TEST(Access, WithoutATokenTheServerMustBeKnownByThatName) {
  const Access access("", {"Heaps.example"});
  for (const char* host : {"localhost", "LOCALHOST:9817", "127.0.0.1:9817", "[::1]:9817", "10.1.2.3", "heaps.example:1",
                           "heaps.example."}) {
    EXPECT_EQ(status_of(access, {{"host", host}}), 200) << host;
  }
  for (const char* host :
       {"attacker.example", "localhost.attacker.example", "", "127.0.0.1.attacker.example", "[", "::1", "127.1"}) {
    EXPECT_EQ(status_of(access, {{"host", host}}), 421) << host;
  }
}

TEST(Access, PagesOfOtherSitesAreRefused) {
  const Access access("", {});
  EXPECT_EQ(status_of(access, {{"host", "localhost"}, {"sec-fetch-site", "cross-site"}}), 403);
  EXPECT_EQ(status_of(access, {{"host", "localhost"}, {"sec-fetch-site", "none"}}), 200);
}

TEST(Access, WithATokenNothingElseCounts) {
  const Access access("0123456789abcdef", {});
  EXPECT_EQ(status_of(access, {{"host", "any.example"}, {"authorization", "Bearer 0123456789abcdef"}}), 200);
  for (const char* wrong : {"Bearer 0123456789abcdeg", "Bearer 0123456789abcde", "Bearer 0123456789abcdef ", "Bearer",
                            "bearer 0123456789abcdef", "Basic 0123456789abcdef", ""}) {
    EXPECT_EQ(status_of(access, {{"host", "localhost"}, {"authorization", wrong}}), 401) << wrong;
  }
  EXPECT_EQ(status_of(access, {{"host", "localhost"}}), 401);
}

TEST(Access, AUnixSocketIsGuardedByItsMode) { EXPECT_EQ(status_of(Access("0123456789abcdef", {}), {}, true), 200); }

}  // namespace
}  // namespace hawk

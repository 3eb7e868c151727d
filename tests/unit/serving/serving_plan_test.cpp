#include "userspace/serving/serving_plan.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "tests/support/scratch_directory.h"

namespace hawk {
namespace {

std::string failure_of(const ServingOptions& options) {
  const Result<ServingPlan> plan = plan_serving(options);
  return plan ? "" : plan.error().what;
}

ServingOptions at(const std::string& address) { return {.listen = {address}}; }

class ServingPlanTest : public ::testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content, mode_t mode = 0600) {
    const std::string path = scratch_.path() + "/" + name;
    std::ofstream(path) << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  ScratchDirectory scratch_;
};

TEST(ListenAddress, IsInFigures) {
  EXPECT_EQ(*parse_listen_address("127.0.0.1:9817"), (ListenAddress{.host = "127.0.0.1", .port = 9817}));
  EXPECT_EQ(*parse_listen_address("[::1]:0"), (ListenAddress{.host = "::1", .port = 0}));
  EXPECT_EQ(*parse_listen_address("localhost:80"), (ListenAddress{.host = "127.0.0.1", .port = 80}));
  EXPECT_EQ(*parse_listen_address("unix:/run/x"), (ListenAddress{.unix_path = "/run/x"}));
  for (const char* wrong : {"", "9817", ":9817", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:1x", "::1:80",
                            "[::1:80", "host.example:80", "unix:", "unix:relative", "127.0.0.1: 80"}) {
    EXPECT_FALSE(parse_listen_address(wrong).has_value()) << wrong;
  }
  EXPECT_FALSE(parse_listen_address("unix:/" + std::string(107, 'x')).has_value());
  EXPECT_TRUE(parse_listen_address("unix:/" + std::string(106, 'x')).has_value());
}

TEST_F(ServingPlanTest, OnlyThisHostMayAskWithoutTokenAndEncryption) {
  EXPECT_EQ(failure_of({}), "");
  EXPECT_EQ(failure_of(at("127.8.9.1:1")), "");
  EXPECT_EQ(failure_of(at("[::1]:1")), "");
  for (const char* address :
       {"0.0.0.0:9817", "192.0.2.7:9817", "[::]:9817", "[2001:db8::1]:9817", "[::ffff:127.0.0.1]:1"}) {
    EXPECT_NE(failure_of(at(address)).find("other hosts can reach this address"), std::string::npos) << address;
  }
  ServingOptions with_token = at("0.0.0.0:9817");
  with_token.token_file = file("token", "0123456789abcdef0123456789abcdef\n");
  EXPECT_NE(failure_of(with_token).find("other hosts can reach this address"), std::string::npos);
}

TEST_F(ServingPlanTest, ATokenIsSecretAndLongEnough) {
  ServingOptions options;
  options.token_file = file("token", "0123456789abcdef\n");
  EXPECT_EQ(failure_of(options), "");
  options.token_file = file("readable", "0123456789abcdef\n", 0644);
  EXPECT_NE(failure_of(options).find("token-file: "), std::string::npos);
  EXPECT_NE(failure_of(options).find("every user may read this secret"), std::string::npos);
  for (const char* content : {"", "short\n", "0123456789 abcdef", "0123456789abcdef\nsecond", "0123456789abcde\x7f"}) {
    options.token_file = file("token", content);
    EXPECT_NE(failure_of(options).find("not a token"), std::string::npos) << content;
  }
  options.token_file = scratch_.path() + "/none";
  EXPECT_NE(failure_of(options).find("token-file: open"), std::string::npos);
  options.token_file = "/dev/zero";
  EXPECT_NE(failure_of(options), "");
}

TEST_F(ServingPlanTest, CertificatesComeWithTheirKey) {
  ServingOptions options;
  options.tls_certificate_file = file("cert", "no certificate");
  EXPECT_NE(failure_of(options).find("there must be a tls-key-file"), std::string::npos);
  options.tls_key_file = file("key", "no key");
  EXPECT_NE(failure_of(options).find("read certificates from"), std::string::npos);
}

TEST_F(ServingPlanTest, StacksAreBounded) {
  ServingOptions options;
  options.top_stacks = kMaxTopStacks;
  EXPECT_EQ(failure_of(options), "");
  ++options.top_stacks;
  EXPECT_NE(failure_of(options).find("top-stacks"), std::string::npos);
}

TEST(HttpUrl, IsTakenApart) {
  EXPECT_EQ(*parse_http_url("http://a.example"), (HttpUrl{false, "a.example", 80, ""}));
  EXPECT_EQ(*parse_http_url("https://a.example:4040/base/"), (HttpUrl{true, "a.example", 4040, "/base"}));
  EXPECT_EQ(*parse_http_url("https://[2001:db8::1]"), (HttpUrl{true, "2001:db8::1", 443, ""}));
  EXPECT_EQ(host_header({true, "2001:db8::1", 443, ""}), "[2001:db8::1]");
  EXPECT_EQ(host_header({false, "a.example", 443, ""}), "a.example:443");
  for (const char* wrong : {"", "a.example", "ftp://a.example", "http://", "http://:80", "http://a:0", "http://a:x",
                            "http://a:70000", "http://u:p@a.example", "http://a.example/?x", "http://a.example/#x",
                            "http://a b", "http://[::1", "http://a\r\nX: y", "http://a/\r\nX: y"}) {
    EXPECT_FALSE(parse_http_url(wrong).has_value()) << wrong;
  }
}

TEST_F(ServingPlanTest, WhatIsPushedIsNamed) {
  ServingOptions options;
  const auto failure = [&options] { return failure_of(options); };
  options.push.url = "http://pyroscope.example";
  EXPECT_EQ(failure(), "");
  options.push.labels = {{"zone", "b"}};
  EXPECT_EQ(failure(), "");
  options.push.labels = {{"1zone", "b"}};
  EXPECT_NE(failure().find("push: labels"), std::string::npos);
  options.push.labels = {{"target", "b"}};
  EXPECT_NE(failure().find("push: labels"), std::string::npos);
  options.push.labels = {{"zone", "b,target=c"}};
  EXPECT_NE(failure().find("push: labels"), std::string::npos);
  options.push.labels = {};
  options.push.application = "a{b";
  EXPECT_NE(failure().find("push: application"), std::string::npos);
  options.push.application = "shop";
  options.push.every = std::chrono::milliseconds(999);
  EXPECT_NE(failure().find("push: every"), std::string::npos);
  options.push.every = std::chrono::seconds(1);
  options.push.tenant = "a\r\nX: y";
  EXPECT_NE(failure().find("push: tenant"), std::string::npos);
  options.push.tenant = "";
  options.push.token_file = file("token", "0123456789abcdef");
  EXPECT_NE(failure().find("not sent unencrypted"), std::string::npos);
}

TEST(PushTarget, ATargetsNameAddsNoLabel) {
  const PushTarget push = {.url = {false, "a", 80, "/base"},
                           .every = {},
                           .application = "hawktrace",
                           .labels = {{"zone", "b"}},
                           .headers = {},
                           .tls = {}};
  EXPECT_EQ(ingest_path(push, "x,y=z}\n", 10, 25),
            "/base/ingest?name=hawktrace%7Btarget%3Dx_y_z_%EF%BF%BD%2Czone%3Db%7D&from=10&until=25&format=pprof&"
            "spyName=hawktrace");
}

}  // namespace
}  // namespace hawk

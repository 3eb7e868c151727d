#include "userspace/serving/http_request.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

HttpRequest parsed(const std::string& head) {
  std::variant<HttpRequest, HttpRefusal> result = parse_request_head(head);
  EXPECT_TRUE(std::holds_alternative<HttpRequest>(result)) << std::get<HttpRefusal>(result).reason;
  return std::get<HttpRequest>(result);
}

int refused(const std::string& head) {
  const std::variant<HttpRequest, HttpRefusal> result = parse_request_head(head);
  return std::holds_alternative<HttpRefusal>(result) ? std::get<HttpRefusal>(result).status : 0;
}

std::string head_of(const std::string& line, const std::string& headers = "Host: localhost\r\n") {
  return line + "\r\n" + headers + "\r\n";
}

TEST(HttpRequest, IsTakenApart) {
  const HttpRequest request = parsed(
      head_of("GET /targets/a%2Fb%20c/heap?seconds=5&x=a+b%26&flag HTTP/1.1", "hOST:  example \t\r\nAccept: a, b\r\n"));
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, (std::vector<std::string>{"targets", "a/b c", "heap"}));
  EXPECT_EQ(request.query, (std::map<std::string, std::string>{{"seconds", "5"}, {"x", "a b&"}, {"flag", ""}}));
  ASSERT_NE(request.header("host"), nullptr);
  EXPECT_EQ(*request.header("host"), "example");
  EXPECT_EQ(*request.header("accept"), "a, b");
  EXPECT_EQ(request.header("authorization"), nullptr);
  EXPECT_TRUE(request.keeps_alive);
}

TEST(HttpRequest, SlashesAroundThePathDoNotMatterAndTheRootIsEmpty) {
  EXPECT_TRUE(parsed(head_of("GET / HTTP/1.1")).path.empty());
  EXPECT_EQ(parsed(head_of("GET /metrics/ HTTP/1.1")).path, std::vector<std::string>{"metrics"});
  EXPECT_EQ(parsed(head_of("GET //x HTTP/1.1")).path, (std::vector<std::string>{"", "x"}));
}

TEST(HttpRequest, SaysWhetherTheConnectionStays) {
  EXPECT_FALSE(parsed(head_of("GET / HTTP/1.0", "")).keeps_alive);
  EXPECT_TRUE(parsed(head_of("GET / HTTP/1.0", "Connection: Keep-Alive\r\n")).keeps_alive);
  EXPECT_FALSE(parsed(head_of("GET / HTTP/1.1", "Host: x\r\nConnection: Close\r\n")).keeps_alive);
}

TEST(HttpRequest, WhatCouldBeUnderstoodInTwoWaysIsRefused) {
  EXPECT_EQ(refused("\r\n\r\n"), 400);
  EXPECT_EQ(refused(head_of("GET  / HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1 ")), 505);
  EXPECT_EQ(refused(head_of("G(T / HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET metrics HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET http://localhost/ HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET /")), 400);
  EXPECT_EQ(refused(head_of("GET / FTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/2.0")), 505);
  EXPECT_EQ(refused(head_of("GET /%0a HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET /%4 HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET /?a=%zz HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of("GET /\x80 HTTP/1.1")), 400);
  EXPECT_EQ(refused(head_of(std::string("GET /\0 HTTP/1.1", 15))), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host: a\r\nHost: b\r\n")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host: a\r\nAuthorization: x\r\nauthorization: y\r\n")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host : a\r\n")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host: a\r\n folded\r\n")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host: a\nX: b\r\n")), 400);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", "Host: a\r\nno colon\r\n")), 400);
}

TEST(HttpRequest, HasNoBody) {
  EXPECT_EQ(refused(head_of("POST / HTTP/1.1", "Host: a\r\nContent-Length: 1\r\n")), 400);
  EXPECT_EQ(refused(head_of("POST / HTTP/1.1", "Host: a\r\nContent-Length: 0\r\nContent-Length: 3\r\n")), 400);
  EXPECT_EQ(refused(head_of("POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refused(head_of("POST / HTTP/1.1", "Host: a\r\nContent-Length: 0\r\n")), 0);
}

TEST(HttpRequest, HasABoundedNumberOfHeaders) {
  std::string headers = "Host: a\r\n";
  for (std::size_t i = 1; i < kMaxHeaders; ++i) headers += "X: y\r\n";
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", headers)), 0);
  EXPECT_EQ(refused(head_of("GET / HTTP/1.1", headers + "X: y\r\n")), 431);
}

TEST(HttpRequest, ItsHeadIsFoundInPieces) {
  const std::string head = head_of("GET / HTTP/1.1");
  for (std::size_t cut = 0; cut <= head.size(); ++cut) {
    std::size_t searched = 0;
    const std::size_t first = head_length(std::string_view(head).substr(0, cut), searched);
    EXPECT_EQ(first, cut == head.size() ? head.size() : 0);
    if (first == 0) {
      EXPECT_EQ(head_length(head + "more", searched), head.size());
    }
  }
}

TEST(HttpRequest, EncodingIsUndone) {
  const std::string text = "a/b c%\"?&=+#\x80\xff";
  EXPECT_EQ(parsed(head_of("GET /" + url_encoded(text) + "?t=" + url_encoded(text) + " HTTP/1.1")).path,
            std::vector<std::string>{text});
  EXPECT_EQ(parsed(head_of("GET /?t=" + url_encoded(text) + " HTTP/1.1")).query.at("t"), text);
}

}  // namespace
}  // namespace hawk

#include "userspace/base/unix_address.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

std::string path_in(const UnixAddress& address) {
  return reinterpret_cast<const sockaddr_un*>(address.get())->sun_path;
}

TEST(UnixAddress, IsThatOfAPath) {
  const auto address = UnixAddress::of("/run/socket");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->get()->sa_family, AF_UNIX);
  EXPECT_EQ(path_in(*address), "/run/socket");
  EXPECT_EQ(address->length(), offsetof(sockaddr_un, sun_path) + sizeof("/run/socket"));
}

TEST(UnixAddress, IsThatOfAnAbstractName) {
  const auto address = UnixAddress::of("@name");
  ASSERT_TRUE(address);
  EXPECT_EQ(path_in(*address), "");
  EXPECT_EQ(address->length(), offsetof(sockaddr_un, sun_path) + sizeof("name"));
}

TEST(UnixAddress, HasALongestPath) {
  const std::string longest = "/" + std::string(UnixAddress::kLongestPath - 1, 'x');
  ASSERT_TRUE(UnixAddress::of(longest));
  EXPECT_EQ(path_in(*UnixAddress::of(longest)), longest);
  EXPECT_FALSE(UnixAddress::of(longest + "x"));
  EXPECT_FALSE(UnixAddress::of(""));
}

}  // namespace
}  // namespace hawk

#include "userspace/launch/command_user.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace hawk {
namespace {

TEST(FindUser, ByNameAndNumber) {
  const Result<CommandUser> root = find_user("root");
  ASSERT_TRUE(root) << root.error().what;
  EXPECT_EQ(root->uid, 0u);
  EXPECT_EQ(root->gid, 0u);
  EXPECT_EQ(root->home, "/root");
  EXPECT_NE(std::find(root->groups.begin(), root->groups.end(), 0u), root->groups.end());
  const Result<CommandUser> nobody = find_user("nobody");
  ASSERT_TRUE(nobody) << nobody.error().what;
  const Result<CommandUser> same = find_user(std::to_string(nobody->uid));
  ASSERT_TRUE(same) << same.error().what;
  EXPECT_EQ(same->name, "nobody");
  EXPECT_EQ(same->groups, nobody->groups);
}

TEST(FindUser, RefusesWhatIsNone) {
  for (const std::string text : {"", "no-such-user", "-1", "12x", "4294967294", "99999999999"}) {
    const Result<CommandUser> user = find_user(text);
    ASSERT_FALSE(user) << text;
    EXPECT_EQ(user.error().exit_code, ExitCode::kUsage);
    EXPECT_TRUE(user.error().what.starts_with("--user: there is no user ")) << user.error().what;
    EXPECT_FALSE(user.error().hint.empty());
  }
}

TEST(EnvironmentOf, IsOursButForTheUsersOwn) {
  ASSERT_EQ(::setenv("HAWK_TEST_VARIABLE", "kept", 1), 0);
  ASSERT_EQ(::setenv("HOME", "/root", 1), 0);
  const std::vector<std::string> environment =
      environment_of({.name = "web", .uid = 7, .gid = 7, .groups = {}, .home = "/srv/web", .shell = ""});
  const auto has = [&environment](const char* variable) {
    return std::count(environment.begin(), environment.end(), variable);
  };
  for (const char* const variable :
       {"HAWK_TEST_VARIABLE=kept", "HOME=/srv/web", "SHELL=/bin/sh", "USER=web", "LOGNAME=web"}) {
    EXPECT_EQ(has(variable), 1) << variable;
  }
  EXPECT_EQ(has("HOME=/root"), 0);
}

}  // namespace
}  // namespace hawk

#include "userspace/launch/command_user.h"

#include <fmt/core.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

std::optional<uid_t> number_of(std::string_view text) {
  uid_t number = 0;
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

/// A name may consist of digits: as for chown, names go first.
const passwd* entry_of(const std::string& text) {
  errno = 0;
  if (const passwd* entry = ::getpwnam(text.c_str())) return entry;
  const std::optional<uid_t> uid = number_of(text);
  return uid ? ::getpwuid(*uid) : nullptr;
}

std::vector<gid_t> groups_of(const char* name, gid_t gid) {
  std::vector<gid_t> groups(32);
  for (;;) {
    int count = static_cast<int>(groups.size());
    const bool is_all = ::getgrouplist(name, gid, groups.data(), &count) >= 0;
    groups.resize(static_cast<std::size_t>(std::max(count, 1)));
    if (is_all) return groups;
  }
}

/// With these bits the kernel keeps the capabilities of a process that changes its user from root.
bool keep_no_capabilities() noexcept {
  const int bits = ::prctl(PR_GET_SECUREBITS);
  const int keeping = SECBIT_KEEP_CAPS | SECBIT_NO_SETUID_FIXUP;
  return bits >= 0 && ((bits & keeping) == 0 || ::prctl(PR_SET_SECUREBITS, bits & ~keeping) == 0);
}

bool drop_capabilities() noexcept {
  __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const std::array<__user_cap_data_struct, 2> none = {};
  // The ambient set is a part of the others.
  return ::syscall(SYS_capset, &header, none.data()) == 0;
}

bool is_kept(std::string_view variable) {
  constexpr std::string_view kReplaced[] = {"HOME=", "SHELL=", "USER=", "LOGNAME="};
  return std::none_of(std::begin(kReplaced), std::end(kReplaced),
                      [variable](std::string_view name) { return variable.starts_with(name); });
}

}  // namespace

Result<CommandUser> find_user(std::string_view text) {
  const std::string name(text);
  const passwd* entry = name.empty() ? nullptr : entry_of(name);
  if (entry == nullptr) {
    return fail(ExitCode::kUsage, fmt::format("--user: there is no user {}", text.empty() ? "''" : text),
                "give the name or the number of one of: getent passwd");
  }
  CommandUser user{.name = entry->pw_name,
                   .uid = entry->pw_uid,
                   .gid = entry->pw_gid,
                   .groups = {},
                   .home = entry->pw_dir,
                   .shell = entry->pw_shell};
  user.groups = groups_of(user.name.c_str(), user.gid);
  return user;
}

std::vector<std::string> environment_of(const CommandUser& user) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (is_kept(*variable)) environment.emplace_back(*variable);
  }
  environment.push_back("HOME=" + user.home);
  environment.push_back("SHELL=" + (user.shell.empty() ? std::string("/bin/sh") : user.shell));
  environment.push_back("USER=" + user.name);
  environment.push_back("LOGNAME=" + user.name);
  return environment;
}

// The system calls themselves: those of libc would ask other threads to follow, and the child has none.
UserFailure become_user(const CommandUser& user) noexcept {
  if (user.uid != 0 && !keep_no_capabilities()) return {"prctl(PR_SET_SECUREBITS)", errno};
  if (::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) != 0) return {"setgroups", errno};
  if (::syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0) return {"setresgid", errno};
  if (::syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0) return {"setresuid", errno};
  if (user.uid != 0 && !drop_capabilities()) return {"capset", errno};
  return {};
}

}  // namespace hawk

#include "userspace/serving/secret_file.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "userspace/base/regular_file.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

constexpr std::size_t kMaxBytes = 1 << 20;
constexpr std::size_t kMinTokenLength = 16;

Result<std::string> read_file(const std::string& path, mode_t forbidden) {
  const UniqueFd file = open_regular_file(path);
  if (!file) return system_failure(ExitCode::kFile, "open " + path, errno);
  struct stat state {};
  if (::fstat(file.get(), &state) != 0) return system_failure(ExitCode::kFile, "read " + path, errno);
  if ((state.st_mode & forbidden) != 0) {
    return fail(ExitCode::kFile, fmt::format("{}: every user may read this secret", path), "chmod o= " + path);
  }
  std::string content;
  std::array<char, 4096> piece;
  ssize_t count = 0;
  while ((count = ::read(file.get(), piece.data(), piece.size())) > 0) {
    content.append(piece.data(), static_cast<std::size_t>(count));
    if (content.size() > kMaxBytes) return fail(ExitCode::kFile, fmt::format("{}: larger than 1 MiB", path));
  }
  if (count < 0) return system_failure(ExitCode::kFile, "read " + path, errno);
  return content;
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) { return read_file(path, 0); }

Result<std::string> read_secret_file(const std::string& path) { return read_file(path, S_IRWXO); }

Result<std::string> read_token_file(const std::string& path) {
  std::string token = HAWK_TRY(read_secret_file(path));
  token.erase(std::find_if(token.rbegin(), token.rend(), [](char c) { return c > ' ' || c < 0; }).base(), token.end());
  const bool is_visible = std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!is_visible || token.size() < kMinTokenLength) {
    return fail(ExitCode::kFile,
                fmt::format("{}: not a token of at least {} visible characters", path, kMinTokenLength),
                "openssl rand -hex 32 prints one");
  }
  return token;
}

}  // namespace hawk

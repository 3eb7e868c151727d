#include "userspace/views/suppressions.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "userspace/base/printable.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/views/call_pattern.h"

namespace hawk {
namespace {

constexpr std::string_view kKind = "leak:";
constexpr std::string_view kSpaces = " \t\r\v\f";
constexpr std::size_t kMaxFileBytes = std::size_t{16} << 20;

std::string_view trimmed(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(kSpaces), line.size()));
  return line.substr(0, line.find_last_not_of(kSpaces) + 1);
}

}  // namespace

SuppressionTemplate::SuppressionTemplate(std::string_view text) : text_(text) {
  if (text.starts_with('^')) {
    at_begin_ = true;
    text.remove_prefix(1);
  }
  if (text.ends_with('$')) {
    at_end_ = true;
    text.remove_suffix(1);
  }
  for (std::size_t star = text.find('*'); star != std::string_view::npos; star = text.find('*')) {
    parts_.emplace_back(text.substr(0, star));
    text.remove_prefix(star + 1);
  }
  parts_.emplace_back(text);
}

/// Each part as early as it can be; only the last one, if it is to end the text, where it must be.
bool SuppressionTemplate::matches(std::string_view text) const {
  if (text.empty()) return false;
  if (at_begin_) {
    if (!text.starts_with(parts_.front())) return false;
    if (parts_.size() == 1) return !at_end_ || text.size() == parts_.front().size();
  }
  for (std::size_t index = 0; index < parts_.size(); ++index) {
    const std::string& part = parts_[index];
    if (at_end_ && index + 1 == parts_.size()) return text.ends_with(part);
    const std::size_t found = text.find(part);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + part.size());
  }
  return true;
}

std::optional<std::size_t> Suppressions::rule_of(const ListedFrame& call, const Snapshot& snapshot) const {
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const SuppressionTemplate& rule) {
    return any_text_of(call, snapshot, [&rule](const std::string& text) { return rule.matches(text); });
  });
  if (found == rules.end()) return std::nullopt;
  return static_cast<std::size_t>(found - rules.begin());
}

Result<Suppressions> parse_suppressions(std::string_view text, const std::string& path) {
  Suppressions suppressions{.path = path, .rules = {}};
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    if (line.empty() || line.starts_with('#')) continue;
    if (!line.starts_with(kKind) || line.size() == kKind.size()) {
      return fail(ExitCode::kFile,
                  fmt::format("read suppressions: {}, line {}: '{}' is not a rule", path, number, printable(line)),
                  "a rule is leak:TEMPLATE, as LeakSanitizer has it: leak:libfoo.so, leak:^init_*, leak:cache.cpp$");
    }
    suppressions.rules.emplace_back(line.substr(kKind.size()));
  }
  return suppressions;
}

Result<Suppressions> read_suppressions(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));  // a pipe too: <(grep ...)
  if (!file) return system_failure(ExitCode::kFile, fmt::format("read suppressions: {}", path), errno);
  std::string text;
  std::array<char, 1 << 16> piece;
  for (;;) {
    const ssize_t count = ::read(file.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_failure(ExitCode::kFile, fmt::format("read suppressions: {}", path), errno);
    if (count == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kMaxFileBytes) {
      return fail(ExitCode::kFile, fmt::format("read suppressions: {}: more than 16 MiB", path), "");
    }
  }
  return parse_suppressions(text, path);
}

}  // namespace hawk

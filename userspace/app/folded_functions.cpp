#include "userspace/app/folded_functions.h"

#include <fmt/core.h>
#include <regex.h>

#include <array>
#include <memory>

#include "symbolizer/plumbing.h"
#include "userspace/base/check.h"
#include "userspace/report/short_name.h"

namespace hawk {
namespace {

constexpr int kFlags = REG_EXTENDED | REG_NOSUB;
constexpr std::size_t kMaxMatched = 4096;  // names have no limit, and the time that matching takes none either

/// What a pattern becomes: freed with the last copy of the function that matches it.
struct Pattern {
  regex_t compiled{};
  int error = 0;

  explicit Pattern(const std::string& text) : error(::regcomp(&compiled, text.c_str(), kFlags)) {}
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  ~Pattern() {
    if (error == 0) ::regfree(&compiled);
  }
};

}  // namespace

Result<std::string> parse_pattern(OptionValue value) {
  const std::string text(value.text);
  const Pattern pattern(text);
  if (pattern.error == 0 && !text.empty()) return text;
  std::array<char, 128> reason = {};
  if (pattern.error != 0) ::regerror(pattern.error, &pattern.compiled, reason.data(), reason.size());
  return fail(ExitCode::kUsage,
              fmt::format("{}: '{}' is not a regular expression{}{}", value.option, text,
                          pattern.error != 0 ? ": " : "", reason.data()),
              "an extended one, as of grep -E: 'my_alloc|^Pool::'");
}

RoleOfFunction folded_functions(const std::optional<std::string>& hide) {
  if (!hide) return frame_role;
  const auto pattern = std::make_shared<const Pattern>(*hide);
  HAWK_CHECK(pattern->error == 0, "a pattern that was not checked");
  return [pattern](const std::string& function) {
    const FrameRole role = frame_role(function);
    if (role != FrameRole::kProgram) return role;
    const std::string name = short_name(function).substr(0, kMaxMatched);
    return ::regexec(&pattern->compiled, name.c_str(), 0, nullptr, 0) == 0 ? FrameRole::kLibrary : role;
  };
}

}  // namespace hawk

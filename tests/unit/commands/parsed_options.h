#pragma once

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "userspace/commands/options.h"

namespace hawk {

using Words = std::vector<std::string>;

inline Result<ParsedOptions> parse(const Words& words) {
  std::vector<const char*> argv{"hawktrace"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);
  return parse_options(argc, argv.data());
}

inline Options options_of(const Words& words) {
  const Result<ParsedOptions> parsed = parse(words);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().what;
    return {};
  }
  return std::get<Options>(*parsed);
}

/// "WHAT / HINT" of a command line that must be refused.
inline std::string refusal_of(const Words& words) {
  const Result<ParsedOptions> parsed = parse(words);
  if (parsed) return "no error";
  EXPECT_EQ(parsed.error().exit_code, ExitCode::kUsage);
  EXPECT_EQ(parsed.error().what.find('\n'), std::string::npos);
  EXPECT_FALSE(parsed.error().hint.empty());
  return parsed.error().what + " / " + parsed.error().hint;
}

/// Of `words` after "-p 1".
inline std::string refusal_with_pid(Words words) {
  words.insert(words.begin(), {"-p", "1"});
  return refusal_of(words);
}

}  // namespace hawk

#include "userspace/base/regular_expression.h"

#include <array>

#include "userspace/base/check.h"

namespace hawk {
namespace {

constexpr std::size_t kMaxMatched = 4096;

}  // namespace

RegularExpression::RegularExpression(const std::string& text, Case letters)
    : error_(::regcomp(&compiled_, text.c_str(),
                       REG_EXTENDED | REG_NOSUB | (letters == Case::kIgnored ? REG_ICASE : 0))) {}

RegularExpression::~RegularExpression() {
  if (error_ == 0) ::regfree(&compiled_);
}

std::string RegularExpression::error() const {
  if (error_ == 0) return {};
  std::array<char, 128> reason = {};
  ::regerror(error_, &compiled_, reason.data(), reason.size());
  return reason.data();
}

bool RegularExpression::matches(const std::string& text) const {
  HAWK_CHECK(is_valid(), "a regular expression that is none");
  if (text.size() <= kMaxMatched) return ::regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  return ::regexec(&compiled_, text.substr(0, kMaxMatched).c_str(), 0, nullptr, 0) == 0;
}

}  // namespace hawk

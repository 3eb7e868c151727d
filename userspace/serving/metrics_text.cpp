#include "userspace/serving/metrics_text.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>

#include "userspace/base/printable.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;

void append_quoted(std::string& text, std::string_view value) {
  text += '"';
  for (const char c : printable_unicode(value)) {
    if (c == '\\' || c == '"') text += '\\';
    text += c;
  }
  text += '"';
}

}  // namespace

void MetricsText::begin(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::put_seconds(Labels labels, std::uint64_t nanoseconds) {
  put_text(labels, fmt::format("{}.{:09}", nanoseconds / kNanosecondsPerSecond, nanoseconds % kNanosecondsPerSecond));
}

void MetricsText::put_ratio(Labels labels, double value) {
  put_text(labels, std::isfinite(value) ? fmt::format("{:.6f}", value) : "NaN");
}

void MetricsText::put_text(Labels labels, std::string_view value) {
  text_ += name_;
  char separator = '{';
  for (const auto& [name, label] : labels) {
    text_ += separator;
    text_ += name;
    text_ += '=';
    append_quoted(text_, label);
    separator = ',';
  }
  if (labels.size() != 0) text_ += '}';
  fmt::format_to(std::back_inserter(text_), " {}\n", value);
}

}  // namespace hawk

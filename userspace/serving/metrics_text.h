#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hawk {

/// A page in the text format of Prometheus, version 0.0.4. Values of labels may be anything: they are made printable
/// and are quoted.
class MetricsText {
 public:
  using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  /// The samples that follow are of this metric.
  void begin(std::string_view name, std::string_view type, std::string_view help);
  void put(Labels labels, std::uint64_t value) { put_text(labels, std::to_string(value)); }
  /// In the base unit, of nanoseconds.
  void put_seconds(Labels labels, std::uint64_t nanoseconds);
  void put_ratio(Labels labels, double value);

  std::string take() { return std::move(text_); }

 private:
  void put_text(Labels labels, std::string_view value);

  std::string name_;
  std::string text_;
};

}  // namespace hawk

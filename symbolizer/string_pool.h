#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace hawk {

/// Texts by number, each kept once: the names of inlined functions and of header files come back in thousands of
/// answers.
class StringPool {
 public:
  StringPool() { add({}); }

  /// The number of "".
  static constexpr std::uint32_t kEmpty = 0;

  /// Longer texts, which only hostile files have, are cut off there; "..." shows that.
  static constexpr std::size_t kLongestBytes = std::size_t{1} << 16;

  std::uint32_t add(std::string_view text) {
    if (text.size() <= kLongestBytes) return add_whole(text);
    return add_whole(std::string(text.substr(0, kLongestBytes)).append("..."));
  }
  const std::string& text(std::uint32_t number) const { return texts_[number]; }
  std::size_t text_bytes() const { return text_bytes_; }

 private:
  std::uint32_t add_whole(std::string_view text) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    const std::uint32_t number = static_cast<std::uint32_t>(texts_.size());
    numbers_.emplace(texts_.emplace_back(text), number);
    text_bytes_ += text.size();
    return number;
  }

  std::deque<std::string> texts_;  // whose elements stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::size_t text_bytes_ = 0;
};

/// A SourceFrame whose texts are numbers of a pool.
struct PooledFrame {
  std::uint32_t function = StringPool::kEmpty;
  std::uint32_t file = StringPool::kEmpty;
  std::uint32_t line = 0;
  bool inlined = false;
};

}  // namespace hawk

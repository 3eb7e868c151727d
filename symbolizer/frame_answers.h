#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "symbolizer/string_pool.h"
#include "symbolizer/symbolizer.h"

namespace hawk {

/// What has been found for the return addresses of one module, so that no answer is computed twice.
class FrameAnswers {
 public:
  bool has(std::uint64_t module_offset) const { return answers_.contains(module_offset); }

  bool empty() const { return answers_.empty(); }

  /// Those of the addresses that have no answer.
  std::vector<std::uint64_t> missing(std::span<const std::uint64_t> module_offsets) const {
    std::vector<std::uint64_t> missing;
    std::copy_if(module_offsets.begin(), module_offsets.end(), std::back_inserter(missing),
                 [this](std::uint64_t offset) { return !has(offset); });
    return missing;
  }

  /// Keeps the answer for an address that has none. Without memory it throws std::bad_alloc, and there is none.
  void keep(std::uint64_t module_offset, std::span<const PooledFrame> frames) {
    const Answer answer = {static_cast<std::uint32_t>(frames_.size()), static_cast<std::uint32_t>(frames.size())};
    frames_.insert(frames_.end(), frames.begin(), frames.end());
    answers_.emplace(module_offset, answer);
  }

  /// The answer, with texts of the pool that its frames were made with; empty when there is none.
  std::vector<SourceFrame> frames(std::uint64_t module_offset, const StringPool& pool) const {
    const auto found = answers_.find(module_offset);
    if (found == answers_.end()) return {};
    std::vector<SourceFrame> frames;
    frames.reserve(found->second.count);
    for (const PooledFrame& frame : std::span(frames_).subspan(found->second.first, found->second.count)) {
      frames.push_back({pool.text(frame.function), pool.text(frame.file), frame.line, frame.inlined});
    }
    return frames;
  }

 private:
  /// A part of frames_.
  struct Answer {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
  };

  std::unordered_map<std::uint64_t, Answer> answers_;
  std::vector<PooledFrame> frames_;
};

}  // namespace hawk

#pragma once

#include <fmt/core.h>

#include <iterator>
#include <string>
#include <utility>

#include "userspace/report/text_sink.h"

namespace hawk {

/// Collects a document and hands it to a sink piece by piece.
class PieceWriter {
 public:
  explicit PieceWriter(const TextSink& sink) : sink_(sink) {}

  /// What is appended to this comes next.
  std::string& text() { return piece_; }
  template <class... Arguments>
  void put(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(piece_), format, std::forward<Arguments>(arguments)...);
  }

  /// To be asked every few lines. False: no more is wanted.
  bool go_on() {
    if (piece_.size() >= kPieceBytes) hand_over();
    return wanted_;
  }
  /// To be called once, at the end. A document without a byte is one piece as well.
  void finish() {
    if (!piece_.empty() || !is_begun_) hand_over();
  }

 private:
  void hand_over() {
    wanted_ = wanted_ && sink_(piece_);
    piece_.clear();
    is_begun_ = true;
  }

  const TextSink& sink_;
  std::string piece_;
  bool wanted_ = true;
  bool is_begun_ = false;
};

}  // namespace hawk

#pragma once

#include <fmt/format.h>

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
  /// To be called once, at the end.
  void finish() {
    if (wanted_ && !piece_.empty()) hand_over();
  }

 private:
  void hand_over() {
    wanted_ = wanted_ && sink_(piece_);
    piece_.clear();
  }

  const TextSink& sink_;
  std::string piece_;
  bool wanted_ = true;
};

}  // namespace hawk

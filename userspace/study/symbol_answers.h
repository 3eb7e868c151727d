#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "symbolizer/libdw_symbolizer.h"
#include "userspace/study/channel.h"
#include "userspace/study/perf_map_file.h"

namespace hawk {

/// The worker's side of ConfinedSymbolizer. One at a time in a process: it has debug files opened by the other end.
class SymbolAnswers {
 public:
  explicit SymbolAnswers(Channel& channel);
  SymbolAnswers(const SymbolAnswers&) = delete;
  SymbolAnswers& operator=(const SymbolAnswers&) = delete;
  ~SymbolAnswers();

  /// Answers a SymbolMessage. False: it is invalid, or the answer could not be sent.
  bool take(Message message);

 private:
  bool add(Message message);
  bool close(std::string_view body);
  bool answer(std::string_view body);
  bool answer_in_no_file(std::string_view body);
  using FramesOf = std::function<std::vector<SourceFrame>(std::uint64_t address)>;
  bool send_frames(const std::vector<std::uint64_t>& addresses, const FramesOf& frames_of);

  Channel& channel_;
  PerfMapFile perf_map_;
  std::unique_ptr<LibdwSymbolizer> symbolizer_ = LibdwSymbolizer::make();
};

}  // namespace hawk

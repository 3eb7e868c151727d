#include "userspace/report/frame_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "userspace/report/repeated_calls.h"

namespace hawk {
namespace {

constexpr std::size_t kOuterFrames = 4;  // of a stack that is too long, so many near main are kept

std::string last_components(const std::string& path, std::size_t components) {
  if (components == 0) return path;
  std::size_t start = path.size();
  while (components-- > 0) {
    const std::size_t slash = start == 0 ? std::string::npos : path.rfind('/', start - 1);
    if (slash == std::string::npos) return path;
    start = slash;
  }
  return path.substr(start + 1);
}

/// Those of the last `outer` lines that do not refer to lines before them.
std::size_t lines_by_themselves(const std::vector<ShownFrame>& shown, std::size_t outer) {
  const std::size_t first = shown.size() - outer;
  std::size_t kept = outer;
  for (std::size_t index = first; index < shown.size(); ++index) {
    const bool refers = shown[index].frame == nullptr && shown[index].why == LeftOut::kRepeated;
    if (refers && index < first + shown[index].lines) kept = shown.size() - index - 1;
  }
  return kept;
}

void leave_middle_out(std::vector<ShownFrame>& shown, std::size_t max_frames) {
  std::size_t outer = std::min(kOuterFrames, max_frames / 2);
  const std::size_t inner = max_frames - outer;
  // At least two lines: the line about the omission takes one itself.
  if (max_frames == 0 || shown.size() < max_frames + 2) return;
  outer = lines_by_themselves(shown, outer);
  std::size_t count = 0;
  for (std::size_t index = inner; index < shown.size() - outer; ++index) {
    count += shown[index].frame ? shown[index].times : shown[index].left_out_count;
  }
  const auto first = shown.begin() + static_cast<std::ptrdiff_t>(inner);
  shown.erase(first + 1, shown.end() - static_cast<std::ptrdiff_t>(outer));
  *first = ShownFrame{.left_out_count = count, .why = LeftOut::kTooMany};
}

/// An allocator's own calls are not that deep; deeper ones are in code that it called, for example a
/// handler.
constexpr std::size_t kMaxInsideAllocator = 10;

/// Whether a function of this name belongs to libc and calls main or begins a thread: it is not informative.
bool starts_every_program(const std::string& function) {
  static constexpr std::string_view kNames[] = {"_start",  "__libc_start_call_main", "__libc_start_main_impl",
                                                "clone3",  "__libc_start_main",      "call_init",
                                                "__clone", "start_thread",           "__libc_csu_init"};
  return std::find(std::begin(kNames), std::end(kNames), function) != std::end(kNames);
}

std::optional<std::size_t> find_deciding(const FrameList& frames) {
  DecidingSearch search;
  for (const ListedFrame* frame : frames) {
    if (search.look_at(*frame)) break;
  }
  return search.found();
}

/// The lines of `frames` from the deciding one on, a recursion being one, and each run of foldable ones a line that is
/// folded.
std::vector<CallRun> runs_of(const FrameList& frames) {
  std::vector<CallRun> runs;
  runs.reserve(frames.size());
  const std::optional<std::size_t> deciding = find_deciding(frames);
  for (std::size_t index = deciding.value_or(0); index < frames.size(); ++index) {
    const bool is_folded = deciding && frames[index]->is_foldable();
    const std::uint32_t number = is_folded ? CallRun::kFolded : frames[index]->function_number;
    if (runs.empty() || runs.back().function_number != number) {
      runs.push_back({number, static_cast<std::uint32_t>(index), 0});
    }
    ++runs.back().count;
  }
  return runs;
}

ShownFrame shown_run(const FrameList& frames, const CallRun& run) {
  if (run.is_folded()) return {.left_out_count = run.count, .why = LeftOut::kFolded};
  return {.frame = frames[run.first], .index = run.first, .times = run.count};
}

/// The line that replaces all rounds of `cycle` except the first.
ShownFrame repetition(const std::vector<CallRun>& runs, const Cycle& cycle) {
  ShownFrame line{.times = cycle.rounds, .why = LeftOut::kRepeated, .lines = cycle.period};
  for (std::size_t index = cycle.end_of_first(); index < cycle.end(); ++index) line.left_out_count += runs[index].count;
  return line;
}

}  // namespace

bool DecidingSearch::look_at(const ListedFrame& frame) {
  const std::size_t index = looked_at_++;
  if (frame.role == FrameRole::kAllocator && index < kMaxInsideAllocator) {
    found_.reset();
  } else if (!found_ && !frame.is_foldable()) {
    found_ = index;
  }
  return found_ && looked_at_ >= kMaxInsideAllocator;
}

std::size_t deciding_frame(const FrameList& frames) { return find_deciding(frames).value_or(0); }

bool is_interpreted(const ListedFrame& frame) {
  if (frame.location.module || frame.source.function.empty() || frame.is_foldable()) return false;
  return !frame.source.file.empty() || frame.source.function.find_first_of(".:") != std::string::npos;
}

std::size_t naming_frame(const FrameList& frames) {
  const std::size_t deciding = deciding_frame(frames);
  const auto interpreted = std::find_if(frames.begin() + static_cast<std::ptrdiff_t>(deciding), frames.end(),
                                        [](const ListedFrame* frame) { return is_interpreted(*frame); });
  return interpreted == frames.end() ? deciding : static_cast<std::size_t>(interpreted - frames.begin());
}

std::string stack_label(const FrameList& frames) {
  if (frames.empty()) return {};
  const std::size_t naming = naming_frame(frames);
  std::string label = frames[naming]->name;
  if (!frames[naming]->source.function.empty()) return label;
  const auto caller =
      std::find_if(frames.begin() + static_cast<std::ptrdiff_t>(naming), frames.end(),
                   [](const ListedFrame* frame) { return !frame->source.function.empty() && !frame->is_foldable(); });
  const bool has_caller = caller != frames.end() && !starts_every_program((*caller)->source.function);
  return has_caller ? label.append(" < ").append((*caller)->name) : label;
}

std::vector<ShownFrame> unfolded_frames(const FrameList& frames) {
  std::vector<ShownFrame> shown;
  shown.reserve(frames.size());
  for (const ListedFrame* frame : frames) shown.push_back({.frame = frame, .index = shown.size()});
  return shown;
}

std::vector<ShownFrame> fold_frames(const FrameList& frames, std::size_t max_frames) {
  const std::vector<CallRun> runs = runs_of(frames);
  std::vector<ShownFrame> shown;
  shown.reserve(runs.size());
  std::size_t next = 0;
  const auto show_until = [&](std::size_t end) {
    for (; next < end; ++next) shown.push_back(shown_run(frames, runs[next]));
  };
  for (const Cycle& cycle : find_cycles(runs)) {
    show_until(cycle.end_of_first());
    shown.push_back(repetition(runs, cycle));
    next = cycle.end();
  }
  show_until(runs.size());
  leave_middle_out(shown, max_frames);
  return shown;
}

FrameList telling_calls(const FrameList& frames) {
  const std::optional<std::size_t> deciding = find_deciding(frames);
  if (!deciding) return frames;
  FrameList relevant;
  relevant.reserve(frames.size() - *deciding);
  std::copy_if(frames.begin() + static_cast<std::ptrdiff_t>(*deciding), frames.end(), std::back_inserter(relevant),
               [](const ListedFrame* frame) { return !frame->is_foldable(); });
  return relevant;
}

std::vector<bool> hidden_frames(const FrameList& frames) {
  const std::vector<CallRun> runs = runs_of(frames);
  std::vector<bool> hidden(frames.size(), true);
  for (const CallRun& run : runs) hidden[run.first] = run.is_folded();
  for (const Cycle& cycle : find_cycles(runs)) {
    for (std::size_t index = cycle.end_of_first(); index < cycle.end(); ++index) hidden[runs[index].first] = true;
  }
  return hidden;
}

std::string left_out_text(const ShownFrame& line) {
  const std::string_view noun = line.left_out_count == 1 ? "frame" : "frames";
  if (line.why == LeftOut::kRepeated) return fmt::format("… the {} lines above ×{}", line.lines, line.times);
  if (line.why == LeftOut::kFolded) return fmt::format("… {} {} folded", line.left_out_count, noun);
  return fmt::format("… {} more {} (--full-stacks)", line.left_out_count, noun);
}

std::string frame_name(const Location& location, const SourceFrame& source, const Snapshot& snapshot) {
  if (!source.function.empty()) return source.function;
  const std::string offset = module_position(location, snapshot, false);
  return offset.empty() ? fmt::format("{:#x}", location.address) : offset;
}

std::string module_position(const Location& location, const Snapshot& snapshot, bool full_path) {
  const Module* module = location.module ? find_module(snapshot, *location.module) : nullptr;
  if (module == nullptr) return {};
  return fmt::format("{}+{:#x}", full_path ? module->path : file_name(module->path), location.module_offset);
}

std::string source_position(const SourceFrame& source, std::size_t components) {
  if (source.file.empty()) return {};
  const std::string file = last_components(source.file, components);
  return source.line == 0 ? file : fmt::format("{}:{}", file, source.line);
}

std::string file_name(const std::string& path) { return last_components(path, 1); }

const Module* find_module(const Snapshot& snapshot, ModuleId id) {
  const std::size_t index = static_cast<std::size_t>(id);
  return index < snapshot.modules.size() ? &snapshot.modules[index] : nullptr;
}

const char* no_frames_text(StackId id) {
  return id == kNoStack ? "(stack not recorded, see losses)" : "(no frame could be read)";
}

}  // namespace hawk

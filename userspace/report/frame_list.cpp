#include "userspace/report/frame_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hawk {
namespace {

constexpr std::size_t kOuterFrames = 4;     // of a stack that is too long, so many near main are kept
constexpr std::ptrdiff_t kMaxShownRun = 2;  // the same call so many times in a row is shown as often

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

void leave_middle_out(std::vector<ShownFrame>& shown, std::size_t max_frames) {
  const std::size_t outer = std::min(kOuterFrames, max_frames / 2);
  const std::size_t inner = max_frames - outer;
  // Two lines at least: the line that says so takes one itself.
  if (max_frames == 0 || shown.size() < max_frames + 2) return;
  std::size_t count = 0;
  for (std::size_t index = inner; index < shown.size() - outer; ++index) {
    count += shown[index].frame ? 1 : shown[index].left_out_count;
  }
  const auto first = shown.begin() + static_cast<std::ptrdiff_t>(inner);
  shown.erase(first + 1, shown.end() - static_cast<std::ptrdiff_t>(outer));
  *first = ShownFrame{nullptr, count, LeftOut::kTooMany};
}

void leave_out(std::vector<ShownFrame>& shown, LeftOut why) {
  if (shown.back().frame || shown.back().why != why) shown.push_back({nullptr, 0, why});
  ++shown.back().left_out_count;
}

bool is_same_call(const ListedFrame* a, const ListedFrame* b) {
  return a == b || (a->place.address == b->place.address && *a == *b);
}

}  // namespace

std::vector<ShownFrame> unfolded_frames(const FrameList& frames) {
  std::vector<ShownFrame> shown;
  shown.reserve(frames.size());
  for (const ListedFrame* frame : frames) shown.push_back({frame, 0, LeftOut::kPlumbing});
  return shown;
}

std::vector<ShownFrame> fold_frames(const FrameList& frames, std::size_t max_frames) {
  const auto first =
      std::find_if_not(frames.begin(), frames.end(), [](const ListedFrame* frame) { return frame->plumbing; });
  std::vector<ShownFrame> shown;
  if (first == frames.end()) {
    shown = unfolded_frames(frames);
  } else {
    shown.reserve(frames.size());
    for (auto frame = first; frame != frames.end();) {
      const auto run_end =
          std::find_if(frame, frames.end(), [&](const ListedFrame* next) { return !is_same_call(*frame, next); });
      const std::ptrdiff_t run = run_end - frame;
      for (std::ptrdiff_t index = 0; index < run; ++index) {
        if ((*frame)->plumbing) {
          leave_out(shown, LeftOut::kPlumbing);
        } else if (run > kMaxShownRun && index > 0) {
          leave_out(shown, LeftOut::kRepeated);
        } else {
          shown.push_back({frame[index], 0, LeftOut::kPlumbing});
        }
      }
      frame = run_end;
    }
  }
  leave_middle_out(shown, max_frames);
  return shown;
}

std::string left_out_text(const ShownFrame& line) {
  const std::string_view noun = line.left_out_count == 1 ? "frame" : "frames";
  switch (line.why) {
    case LeftOut::kPlumbing:
      return fmt::format("… {} {} folded", line.left_out_count, noun);
    case LeftOut::kRepeated:
      return fmt::format("… the same {} more times", line.left_out_count);
    case LeftOut::kTooMany:
      break;
  }
  return fmt::format("… {} more {} (--full-stacks)", line.left_out_count, noun);
}

std::string frame_name(const ListedFrame& frame, const Snapshot& snapshot) {
  if (!frame.source.function.empty()) return frame.source.function;
  const std::string place = module_place(frame.place, snapshot, false);
  return place.empty() ? fmt::format("{:#x}", frame.place.address) : place;
}

std::string module_place(const Frame& place, const Snapshot& snapshot, bool full_path) {
  const Module* module = place.module ? find_module(snapshot, *place.module) : nullptr;
  if (module == nullptr) return {};
  return fmt::format("{}+{:#x}", full_path ? module->path : file_name(module->path), place.module_offset);
}

std::string source_place(const SourceFrame& source, std::size_t components) {
  if (source.file.empty()) return {};
  const std::string file = last_components(source.file, components);
  return source.line == 0 ? file : fmt::format("{}:{}", file, source.line);
}

std::string function_without_parameters(const std::string& function) {
  static constexpr std::array<std::string_view, 4> kQualifiers = {" const", " &&", " &", " volatile"};
  std::string_view name = function;
  for (bool cut = true; cut;) {
    cut = false;
    for (const std::string_view qualifier : kQualifiers) {
      if (!name.ends_with(qualifier)) continue;
      name.remove_suffix(qualifier.size());
      cut = true;
    }
  }
  if (!name.ends_with(')')) return function;
  std::size_t open = name.size();
  for (std::size_t depth = 0; open > 0;) {
    --open;
    if (name[open] == ')') ++depth;
    if (name[open] == '(' && --depth == 0) break;
  }
  name = name.substr(0, open);
  // What is left must be a name: the parentheses were not a parameter list in "(anonymous namespace)" or "operator()".
  const bool is_name = !name.empty() && !name.ends_with("::") && !name.ends_with("operator") && !name.ends_with(' ');
  return is_name ? std::string(name) : function;
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

#include "userspace/export/json_calls.h"

#include <fmt/core.h>

#include <iterator>
#include <utility>

#include "userspace/export/json_escapes.h"

namespace hawk {
namespace {

void append_text_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    append_json_text(out, text);
  }
}

std::string frame_json(const Location& location, const Module* module, const SourceFrame& source, bool is_hidden) {
  std::string out;
  const auto to_out = [&] { return std::back_inserter(out); };
  fmt::format_to(to_out(), R"({{"address":"{:#x}","module":)", location.address);
  append_text_or_null(out, module != nullptr ? module->path : "");
  out += R"(,"build_id":)";
  append_text_or_null(out, module != nullptr ? module->build_id : "");
  out += R"(,"module_offset":)";
  append_text_or_null(out, module != nullptr ? fmt::format("{:#x}", location.module_offset) : "");
  out += R"(,"function":)";
  append_text_or_null(out, source.function);
  out += R"(,"file":)";
  append_text_or_null(out, source.file);
  out += R"(,"line":)";
  out += source.line != 0 ? fmt::format("{}", source.line) : "null";
  out += source.inlined ? R"(,"inlined":true)" : R"(,"inlined":false)";
  if (location.interrupted) out += R"(,"interrupted":true)";
  out += is_hidden ? R"(,"hidden":true})" : R"(,"hidden":false})";
  out.shrink_to_fit();
  return out;
}

}  // namespace

CallTexts::CallTexts(const Snapshot& snapshot, const CallTable& calls) : snapshot_(snapshot), calls_(calls) {
  for (std::vector<std::string>& frames : frames_) frames.resize(calls.size());
  labels_.resize(calls.size());
}

const std::string& CallTexts::frame(const ListedFrame& call, bool is_hidden) {
  std::string& text = frames_[is_hidden ? 1 : 0][calls_.number_of(call)];
  if (text.empty()) {
    const Module* module = call.location.module ? find_module(snapshot_, *call.location.module) : nullptr;
    text = frame_json(call.location, module, call.source, is_hidden);
  }
  return text;
}

void CallTexts::append_frames(std::string& out, const FrameList& calls) {
  const std::vector<bool> hidden = hidden_frames(calls);
  for (std::size_t index = 0; index < calls.size(); ++index) {
    if (index != 0) out += ',';
    out += frame(*calls[index], hidden[index]);
  }
}

std::string CallTexts::label(const FrameList& calls) {
  if (calls.empty()) return "null";
  const ListedFrame& naming = *calls[calls_.has_interpreted() ? naming_frame(calls) : deciding_frame(calls)];
  std::string& text = labels_[calls_.number_of(naming)];
  if (text.empty()) append_text_or_null(text, stack_label(calls));
  if (!naming.source.function.empty()) return text;
  return std::exchange(text, {});  // it depends on the callers
}

}  // namespace hawk

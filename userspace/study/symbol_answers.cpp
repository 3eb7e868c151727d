#include "userspace/study/symbol_answers.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "userspace/study/symbol_messages.h"

namespace hawk {
namespace {

/// A message is sent as soon as it has this length.
constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

/// Files are opened by the privileged process.
UniqueFd ask_for_file(Channel& channel, const std::string& root, const std::string& path) {
  if (!channel.send(kOpenFile, to_body(FileWanted{root, path}))) return {};
  std::optional<Message> answer = channel.receive();
  return answer && answer->kind == kOpenedFile ? std::move(answer->fd) : UniqueFd();
}

}  // namespace

SymbolAnswers::SymbolAnswers(Channel& channel) : channel_(channel) {
  open_debug_files_with(
      [&channel](const std::string& root, const std::string& path) { return ask_for_file(channel, root, path); });
}

SymbolAnswers::~SymbolAnswers() { open_debug_files_with({}); }

bool SymbolAnswers::take(Message message) {
  switch (message.kind) {
    case kAddModule:
      return add(std::move(message));
    case kCloseFiles:
      return close(message.body);
    case kAskForFrames:
      return answer(message.body);
    case kPerfMap:
      perf_map_.read(std::move(message.fd));
      return true;
    case kPerfMapGrew:
      perf_map_.read_on();
      return true;
    case kAskInNoFile:
      return answer_in_no_file(message.body);
    default:
      return false;
  }
}

bool SymbolAnswers::add(Message message) {
  ModuleHead head;
  if (!from_body(message.body, head)) return false;
  symbolizer_->add_module(
      ModuleId(head.module),
      {.path = std::move(head.path), .fd = std::move(message.fd), .root = std::move(head.root), .vdso = head.is_vdso});
  return true;
}

bool SymbolAnswers::close(std::string_view body) {
  FramesQuestion question;
  if (!from_body(body, question)) return false;
  symbolizer_->close_files(ModuleId(question.module));
  return true;
}

bool SymbolAnswers::answer(std::string_view body) {
  FramesQuestion question;
  if (!from_body(body, question)) return false;
  const ModuleId module{question.module};
  if (question.module_offsets.size() > 1) symbolizer_->prepare(module, question.module_offsets);
  return send_frames(question.module_offsets,
                     [&](std::uint64_t offset) { return symbolizer_->frames(module, offset); }) &&
         channel_.send(kModuleState, to_body(ModuleState{symbolizer_->source(module), symbolizer_->gap(module)}));
}

bool SymbolAnswers::answer_in_no_file(std::string_view body) {
  FramesQuestion question;
  if (!from_body(body, question)) return false;
  return send_frames(question.module_offsets, [&](std::uint64_t address) { return perf_map_.frames(address); }) &&
         channel_.send(kModuleState, to_body(ModuleState{}));
}

bool SymbolAnswers::send_frames(const std::vector<std::uint64_t>& addresses, const FramesOf& frames_of) {
  std::vector<FramesAt> found;
  std::size_t bytes = 0;
  for (const std::uint64_t address : addresses) {
    const FramesAt& at = found.emplace_back(FramesAt{address, frames_of(address)});
    for (const SourceFrame& frame : at.frames) bytes += frame.function.size() + frame.file.size() + sizeof frame;
    if (bytes < kMessageBytes) continue;
    if (!channel_.send(kFrames, to_body(found))) return false;
    found.clear();
    bytes = 0;
  }
  return channel_.send(kFrames, to_body(found));
}

}  // namespace hawk

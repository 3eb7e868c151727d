#include "userspace/study/symbol_worker.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/debug_file_search.h"
#include "symbolizer/libdw_symbolizer.h"
#include "symbolizer/memory_budget.h"
#include "symbolizer/truncated_files.h"
#include "userspace/study/confinement.h"
#include "userspace/study/symbol_messages.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

/// For all that a worker keeps: Chromium's debug information, in which 300 MiB are compressed, takes 500 MiB.
constexpr std::size_t kMemoryBytes = std::size_t{5} << 28;
/// A message is sent as soon as it is so long.
constexpr std::size_t kMessageBytes = std::size_t{1} << 20;

class SymbolAnswers {
 public:
  explicit SymbolAnswers(Channel& channel) : channel_(channel) {}

  /// False: the message makes no sense.
  bool take(Message message) {
    switch (message.kind) {
      case kAddModule:
        return add(std::move(message));
      case kCloseFiles:
        return close(message.body);
      case kAskForFrames:
        return answer(message.body);
      default:
        return false;
    }
  }

 private:
  bool add(Message message) {
    ModuleHead head;
    if (!from_body(message.body, head)) return false;
    symbolizer_->add_module(ModuleId(head.module), {.path = std::move(head.path),
                                                    .fd = std::move(message.fd),
                                                    .root = std::move(head.root),
                                                    .vdso = head.is_vdso});
    return true;
  }

  bool close(std::string_view body) {
    FramesQuestion question;
    if (!from_body(body, question)) return false;
    symbolizer_->close_files(ModuleId(question.module));
    return true;
  }

  bool answer(std::string_view body) {
    FramesQuestion question;
    if (!from_body(body, question)) return false;
    const ModuleId module{question.module};
    if (question.module_offsets.size() > 1) symbolizer_->prepare(module, question.module_offsets);
    std::vector<FramesAt> found;
    std::size_t bytes = 0;
    for (const std::uint64_t offset : question.module_offsets) {
      const FramesAt& at = found.emplace_back(FramesAt{offset, symbolizer_->frames(module, offset)});
      for (const SourceFrame& frame : at.frames) bytes += frame.function.size() + frame.file.size() + sizeof frame;
      if (bytes < kMessageBytes) continue;
      if (!channel_.send(kFrames, to_body(found))) return false;
      found.clear();
      bytes = 0;
    }
    return channel_.send(kFrames, to_body(found)) &&
           channel_.send(kModuleState, to_body(ModuleState{symbolizer_->source(module), symbolizer_->gap(module)}));
  }

  Channel& channel_;
  std::unique_ptr<LibdwSymbolizer> symbolizer_ = LibdwSymbolizer::make();
};

/// Files are opened by the process that may.
UniqueFd ask_for_file(Channel& channel, const std::string& root, const std::string& path) {
  if (!channel.send(kOpenFile, to_body(FileWanted{root, path}))) return {};
  std::optional<Message> answer = channel.receive();
  return answer && answer->kind == kOpenedFile ? std::move(answer->fd) : UniqueFd();
}

}  // namespace

void answer_symbol_questions(Channel& channel) {
  open_debug_files_with(
      [&channel](const std::string& root, const std::string& path) { return ask_for_file(channel, root, path); });
  SymbolAnswers answers(channel);
  while (std::optional<Message> message = channel.receive()) {
    if (!answers.take(*std::move(message))) break;
  }
  open_debug_files_with({});
}

int run_symbol_worker() {
  // Our end is the parent's: it ends when the channel does.
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
  std::set_new_handler(nullptr);  // what finds no memory is to be told so, and not to end us
  ::prctl(PR_SET_NAME, "hawktrace-read");
  Channel channel{UniqueFd(kWorkerSocket)};
  const MemoryBudget budget(kMemoryBytes);
  survive_truncated_files();
  if (!confine_this_process().empty()) return EXIT_FAILURE;
  answer_symbol_questions(channel);
  return EXIT_SUCCESS;
}

}  // namespace hawk

// Stands for a worker that a file has made do something else than its work: what, is the path of the module that it is
// asked about.
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

#include "userspace/study/channel.h"
#include "userspace/study/symbol_messages.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

void answer(Channel& channel, const FramesQuestion& question, const std::string& function) {
  std::vector<FramesAt> found;
  for (const std::uint64_t offset : question.module_offsets)
    found.push_back({offset, {{function, "file.c", 7, false}}});
  channel.send(kFrames, to_body(found));
  channel.send(kModuleState, to_body(ModuleState{SymbolSource::kDebugInfo, ""}));
}

/// The file that it is given is one whose name the module's path has behind the colon.
std::string ask_for(Channel& channel, const std::string& root, const std::string& path) {
  channel.send(kOpenFile, to_body(FileWanted{root, path}));
  const std::optional<Message> message = channel.receive();
  return message && message->fd ? "was given it" : "was not given it";
}

void misbehave(Channel& channel, const std::string& path, const FramesQuestion& question) {
  if (path == "/crashes") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (path == "/is_stopped") {
    std::signal(SIGSYS, SIG_DFL);
    std::raise(SIGSYS);
  }
  if (path == "/ends") std::_Exit(EXIT_SUCCESS);
  if (path == "/works_for_ever") {
    for (volatile bool goes_on = true; goes_on;) continue;
  }
  if (path == "/waits_for_ever") {
    while (true) ::pause();
  }
  if (path == "/answers_nonsense") channel.send(kFrames, "nonsense");
  if (path == "/answers_something_else") channel.send(kAddModule, "");
  if (path == "/breaks_off") {
    channel.send(kFrames, to_body(std::vector<FramesAt>{{question.module_offsets.at(0), {{"known", "", 0, false}}}}));
    std::raise(SIGKILL);
  }
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos) return answer(channel, question, "of " + path);
  const bool is_elsewhere = path.starts_with("/wants_elsewhere");
  answer(channel, question, ask_for(channel, is_elsewhere ? "/proc/1/root" : "", path.substr(colon + 1)));
}

int run() {
  Channel channel{UniqueFd(kWorkerSocket)};
  std::string path;
  while (const std::optional<Message> message = channel.receive()) {
    ModuleHead head;
    FramesQuestion question;
    if (message->kind == kAddModule && from_body(message->body, head)) path = head.path;
    if (message->kind == kAskForFrames && from_body(message->body, question)) misbehave(channel, path, question);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hawk

int main() { return hawk::run(); }

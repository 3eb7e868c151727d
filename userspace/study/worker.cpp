#include "userspace/study/worker.h"

#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "symbolizer/memory_budget.h"
#include "symbolizer/truncated_files.h"
#include "userspace/study/confinement.h"
#include "userspace/study/file_answers.h"
#include "userspace/study/symbol_answers.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

/// For all that a worker keeps: Chromium's debug information, in which 300 MiB are compressed, takes 500 MiB.
constexpr std::size_t kMemoryBytes = std::size_t{5} << 28;
}  // namespace

void answer_questions(Channel& channel) {
  FileAnswers files(channel);
  std::optional<SymbolAnswers> symbols;
  while (std::optional<Message> message = channel.receive()) {
    const bool is_about_contents = message->kind == kReadFile;
    if (!is_about_contents && !symbols) symbols.emplace(channel);
    if (!(is_about_contents ? files.take(*std::move(message)) : symbols->take(*std::move(message)))) break;
  }
}

int run_worker() {
  // Our end is the parent's: it ends when the channel does.
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
  std::set_new_handler(nullptr);  // an allocation that fails throws, instead of ending the worker
  ::prctl(PR_SET_NAME, "hawktrace-read");
  Channel channel{UniqueFd(kWorkerSocket)};
  const MemoryBudget budget(kMemoryBytes);
  survive_truncated_files();
  if (!confine_this_process().empty()) return EXIT_FAILURE;
  answer_questions(channel);
  return EXIT_SUCCESS;
}

}  // namespace hawk

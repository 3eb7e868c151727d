#include "userspace/study/worker.h"

#include <malloc.h>
#include <sys/prctl.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <utility>

#include "symbolizer/memory_budget.h"
#include "symbolizer/truncated_files.h"
#include "userspace/process/own_code.h"
#include "userspace/study/confinement.h"
#include "userspace/study/file_answers.h"
#include "userspace/study/symbol_answers.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

/// For all that a worker keeps: Chromium's debug information, in which 300 MiB are compressed, takes 500 MiB.
constexpr std::size_t kMemoryBytes = std::size_t{5} << 28;

/// To read a file takes many buffers, one after the other. malloc gives each of more than 128 KiB back to the system
/// until it has learnt that more of the kind are needed: here it begins with the bounds that it comes to. To have the
/// pages again was a twentieth of all that attaching takes.
void keep_freed_memory() {
  constexpr int kLargestKept = 32 << 20;  // DEFAULT_MMAP_THRESHOLD_MAX, glibc's malloc/malloc.c
  ::mallopt(M_MMAP_THRESHOLD, kLargestKept);
  ::mallopt(M_TRIM_THRESHOLD, 2 * kLargestKept);
}

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

int run_worker(bool moves_code) {
  // Our end is the parent's: it ends when the channel does.
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) std::signal(signal_number, SIG_IGN);
  std::set_new_handler(nullptr);  // an allocation that fails throws, instead of ending the worker
  ::prctl(PR_SET_NAME, "hawktrace-read");
  if (moves_code) move_own_code();
  Channel channel{UniqueFd(kWorkerSocket)};
  keep_freed_memory();
  const MemoryBudget budget(kMemoryBytes);
  survive_truncated_files();
  if (!confine_this_process().empty()) return EXIT_FAILURE;
  answer_questions(channel);
  return EXIT_SUCCESS;
}

}  // namespace hawk

#pragma once

#include "userspace/study/channel.h"

namespace hawk {

/// What hawktrace does when it is started as a worker (kWorkerArgument, kMovedWorkerArgument): gives up its rights, and
/// then answers questions about files (FileMessage, SymbolMessage) until the other end of the channel is gone. Returns
/// the status to exit with. `moves_code`: kMovedWorkerArgument.
int run_worker(bool moves_code);

/// The answering alone.
void answer_questions(Channel& channel);

}  // namespace hawk

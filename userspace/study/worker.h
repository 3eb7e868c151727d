#pragma once

#include "userspace/study/channel.h"

namespace hawk {

/// What hawktrace does when it is started as a worker (kWorkerArgument): gives up its rights, and then answers
/// questions about files (FileMessage, SymbolMessage) until the other end of the channel is gone. Returns the status to
/// exit with.
int run_worker();

/// The answering alone.
void answer_questions(Channel& channel);

}  // namespace hawk

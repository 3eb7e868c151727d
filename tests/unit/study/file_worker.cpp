// The worker of hawktrace, without hawktrace.
#include "userspace/study/worker.h"

int main() { return hawk::run_worker(false); }

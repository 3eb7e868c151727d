/* Allocates at unusual times: before main, in handlers at exit, in destructors of threads, of libraries and of
 * objects, and in the very last one. Traced from its start. */
#include <pthread.h>

#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "counting_itself.h"
}

namespace {

/* After every other destructor. */
__attribute__((destructor(101))) void last_word() {
  free(malloc(11));
  own_tell();
  ledger_write("done\n", 5);
}

struct Greedy {
  std::vector<std::string> words{std::string(100, 'x'), std::string(200, 'y')};
  ~Greedy() { words.emplace_back(300, 'z'); }
};
Greedy at_start;
thread_local Greedy in_thread;

__attribute__((constructor(102))) void before_all() { free(malloc(21)); }
__attribute__((destructor)) void after_main() { free(malloc(31)); }

}  // namespace

int main() {
  std::atexit([] { free(malloc(41)); });
  std::atexit([] { std::atexit([] { at_start.words.emplace_back(51, 'w'); }); });
  ledger_write("ready\n", 6);
  ledger_wait();
  for (int i = 0; i < 20; i++) std::thread([] { in_thread.words.emplace_back(500, 't'); }).join();
  in_thread.words.emplace_back(600, 'm');
  return 9;
}

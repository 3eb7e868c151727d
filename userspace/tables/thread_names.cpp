#include "userspace/tables/thread_names.h"

#include <unordered_map>

namespace hawk {

std::vector<NamedThread> named_threads(const SharedTable<ThreadEvent>& events) {
  std::vector<NamedThread> threads;
  std::unordered_map<int, std::size_t> present;  // where in `threads`
  for (const ThreadEvent& event : events) {
    if (const auto known = present.find(event.tid); known != present.end()) {
      threads[known->second].gone_ns = event.time_ns;
      present.erase(known);
    }
    if (!event.name) continue;
    present[event.tid] = threads.size();
    threads.push_back({.tid = event.tid, .name = *event.name, .first_seen_ns = event.time_ns, .gone_ns = {}});
  }
  return threads;
}

}  // namespace hawk

#include "userspace/process/thread_ids.h"

#include "userspace/base/process_file.h"
#include "userspace/process/numbered_entries.h"

namespace hawk {

std::vector<int> thread_ids(const std::string& directory) {
  return numbered_entries(open_process_file(directory + "/task"));
}

}  // namespace hawk

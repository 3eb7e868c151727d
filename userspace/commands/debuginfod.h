#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/progress_line.h"

namespace hawk {

/// --debuginfod and --debuginfod-timeout.
struct DebuginfodOptions {
  bool is_wanted = false;
  std::string urls;  ///< separated by spaces; empty: those of the environment's DEBUGINFOD_URLS
  std::chrono::nanoseconds timeout = std::chrono::minutes(2);  ///< for all files together
};
void add_debuginfod_rows(OptionRows& rows, DebuginfodOptions& options, const char* group);

/// Fetches debug information from debuginfod servers, by build id. No server is contacted unless the user requests it.
/// Uses elfutils' library, which caches files in a directory of the user (debuginfod-find(1)) and which is loaded only
/// for this purpose, because it loads libraries for HTTP and TLS.
class Debuginfod {
 public:
  /// nullptr: it was not requested. Fails with kUsage if there is no server, or no library.
  static Result<std::unique_ptr<Debuginfod>> make(const DebuginfodOptions& options, Verbosity verbosity);
  ~Debuginfod();
  Debuginfod(const Debuginfod&) = delete;
  Debuginfod& operator=(const Debuginfod&) = delete;

  /// The debug information of the file with that build id (hexadecimal); none if no server has it. Waits for the
  /// network, as long as the time limit for all files allows. The progress is shown on a terminal.
  UniqueFd find(const std::string& build_id);

 private:
  struct Library;
  Debuginfod(std::unique_ptr<Library> library, const DebuginfodOptions& options, Verbosity verbosity);
  int ask(const std::string& build_id);
  static int go_on_with(void* client, long done, long all);
  bool may_go_on(long done, long all);
  void show(long done, long all);

  std::unique_ptr<Library> library_;
  std::string urls_;
  std::chrono::nanoseconds left_;  ///< of the time limit
  ProgressLine line_;
  std::set<std::string> failed_ = {};  ///< build ids that no server has
  bool has_warned_of_timeout_ = false;
  bool has_warned_of_failure_ = false;
  std::string build_id_ = {};  ///< that is being asked for
  std::chrono::steady_clock::time_point began_ = {};
};

/// `search`, and after them the servers; `debuginfod`, which must outlive what is returned, may be nullptr.
ModuleSearch with_debuginfod(ModuleSearch search, Debuginfod* debuginfod);

}  // namespace hawk

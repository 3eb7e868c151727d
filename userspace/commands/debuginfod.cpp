#include "userspace/commands/debuginfod.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "userspace/commands/option_setters.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr const char* kLibrary = "libdebuginfod.so.1";
constexpr const char* kUrls = "DEBUGINFOD_URLS";

/// The active one: the library's callback has no user data.
Debuginfod* asking = nullptr;

}  // namespace

/// The functions of elfutils/debuginfod.h that are used.
struct Debuginfod::Library {
  using Progress = int (*)(void* client, long done, long all);
  void* (*begin)() = nullptr;
  int (*find_debuginfo)(void* client, const unsigned char* build_id, int length, char** path) = nullptr;
  void (*set_progress)(void* client, Progress progress) = nullptr;
  void (*end)(void* client) = nullptr;
  void* client = nullptr;

  template <class Function>
  static bool load(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
  }
  bool open() {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    if (!load(library, "debuginfod_begin", begin) || !load(library, "debuginfod_find_debuginfo", find_debuginfo) ||
        !load(library, "debuginfod_set_progressfn", set_progress) || !load(library, "debuginfod_end", end)) {
      return false;
    }
    client = begin();
    return client != nullptr;
  }
};

void add_debuginfod_rows(OptionRows& rows, DebuginfodOptions& options, const char* group) {
  rows.push_back({"--debuginfod", OptionRow::Value::kOptional, "URLS", group,
                  "fetch debug information that is not found locally from\nthese servers, or those in DEBUGINFOD_URLS",
                  [&options](OptionValue v) -> Result<void> {
                    options.is_wanted = true;
                    options.urls = v.text;
                    return {};
                  }});
  rows.push_back({"--debuginfod-timeout", OptionRow::Value::kRequired, "TIME", group,
                  "time limit for fetching all files together, 1s or more\n(default 2m)",
                  [&options](OptionValue v) { return set_time_span(options.timeout, v, std::chrono::seconds(1)); }});
}

Result<std::unique_ptr<Debuginfod>> Debuginfod::make(const DebuginfodOptions& options, Verbosity verbosity) {
  if (!options.is_wanted) return nullptr;
  const char* urls = ::getenv(kUrls);
  if (options.urls.empty() && (urls == nullptr || *urls == '\0')) {
    return fail(ExitCode::kUsage, "--debuginfod: no server is given: DEBUGINFOD_URLS is not set",
                "name one: --debuginfod=URL");
  }
  auto library = std::make_unique<Library>();
  if (!library->open()) {
    const char* why = ::dlerror();
    return fail(ExitCode::kUsage,
                fmt::format("--debuginfod: {}", why != nullptr ? why : "libdebuginfod cannot be initialized"),
                "install libdebuginfod1");
  }
  return std::unique_ptr<Debuginfod>(new Debuginfod(std::move(library), options, verbosity));
}

Debuginfod::Debuginfod(std::unique_ptr<Library> library, const DebuginfodOptions& options, Verbosity verbosity)
    : library_(std::move(library)), urls_(options.urls), left_(options.timeout), line_(progress_on_stderr(verbosity)) {
  library_->set_progress(library_->client, &Debuginfod::go_on_with);
}

Debuginfod::~Debuginfod() { library_->end(library_->client); }

UniqueFd Debuginfod::find(const std::string& build_id) {
  if (build_id.empty() || failed_.contains(build_id) || left_.count() <= 0) return {};
  began_ = std::chrono::steady_clock::now();
  const int answer = ask(build_id);
  left_ -= std::chrono::steady_clock::now() - began_;
  if (answer >= 0) return UniqueFd(answer);
  failed_.insert(build_id);
  if (answer == -ETIME) left_ = {};
  if (left_.count() <= 0 && !std::exchange(has_warned_of_timeout_, true)) {
    log_warning(
        "debuginfod: the time limit is reached, and the remaining files are not fetched; --debuginfod-timeout raises "
        "it");
  } else if (left_.count() > 0 && answer != -ENOENT && answer != -ETIME &&
             !std::exchange(has_warned_of_failure_, true)) {
    log_warning(fmt::format("debuginfod: build id {}: {}", build_id, std::strerror(-answer)));
  }
  return {};
}

int Debuginfod::ask(const std::string& build_id) {
  // Not in the environment of a command that is traced.
  if (!urls_.empty()) ::setenv(kUrls, urls_.c_str(), 1);
  // The library calls back only once there is an answer; until then its time limit is in whole seconds.
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(left_).count();
  ::setenv("DEBUGINFOD_MAXTIME", std::to_string(seconds).c_str(), 1);
  build_id_ = build_id;
  asking = this;
  line_.begin({});
  show(0, 0);
  const int answer =
      library_->find_debuginfo(library_->client, reinterpret_cast<const unsigned char*>(build_id.c_str()), 0, nullptr);
  asking = nullptr;
  line_.erase();
  return answer;
}

int Debuginfod::go_on_with(void*, long done, long all) { return asking->may_go_on(done, all) ? 0 : 1; }

bool Debuginfod::may_go_on(long done, long all) {
  show(done, all);
  return std::chrono::steady_clock::now() - began_ < left_;
}

/// The library's numbers before a transfer has begun are not bytes: `all` is 0 then.
void Debuginfod::show(long done, long all) {
  if (!line_.is_on_terminal() || !line_.is_due()) return;
  std::string text = fmt::format("hawktrace: fetching debug information {}", build_id_.substr(0, 12));
  if (all > 0) {
    text += fmt::format(", {} of {}", format_bytes(static_cast<std::uint64_t>(done), NumberStyle::kReadable),
                        format_bytes(static_cast<std::uint64_t>(all), NumberStyle::kReadable));
  }
  line_.show(std::move(text));
}

ModuleSearch with_debuginfod(ModuleSearch search, Debuginfod* debuginfod) {
  if (debuginfod != nullptr) {
    search.finder = [debuginfod](const std::string& build_id) { return debuginfod->find(build_id); };
  }
  return search;
}

}  // namespace hawk

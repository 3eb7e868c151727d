#include "userspace/daemon/config_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "userspace/base/option_values.h"
#include "userspace/base/process_file.h"
#include "userspace/base/regular_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/daemon/config_keys.h"
#include "userspace/daemon/config_setters.h"
#include "userspace/daemon/directory_entries.h"
#include "userspace/daemon/toml_document.h"

namespace hawk {
namespace {

constexpr std::size_t kMostTargets = 256;
constexpr std::size_t kLongestName = 64;
constexpr std::string_view kSuffix = ".toml";
constexpr std::array<std::string_view, 4> kTables = {"daemon", "target", "serve", "push"};

/// It is the name of a directory, and a label of metrics.
bool is_target_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '@' || c == ':';
  };
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), is_letter);
}

/// The files one after the other, each over those before.
class Merger {
 public:
  Result<void> add(const ConfigText& file) {
    const TomlValue::Table document = HAWK_TRY(parse_toml(file.text, file.file));
    for (const TomlEntry& entry : document) HAWK_TRY_VOID(add_table(entry, file.file));
    return {};
  }

  Result<DaemonConfig> finish() {
    for (auto& [name, target] : targets_) {
      HAWK_TRY_VOID(check(target));
      config_.targets.push_back(std::move(target.config));
    }
    return std::move(config_);
  }

 private:
  struct Target {
    TargetConfig config;
    std::string where;  ///< it was first named
  };

  Result<void> add_table(const TomlEntry& entry, const std::string& file) {
    const std::string where = fmt::format("{}:{}: {}", file, entry.value.line, entry.key);
    const auto* table = std::get_if<TomlValue::Table>(&entry.value.value);
    if (entry.key == "target" && table == nullptr) {
      return refuse_value(where, "targets have names", "write [target.NAME], and its keys below");
    }
    if (table == nullptr || std::find(kTables.begin(), kTables.end(), entry.key) == kTables.end()) {
      const std::string_view nearest = nearest_name(entry.key, kTables);
      return refuse_value(where, "there is no such table",
                          nearest.empty() ? "the tables are [daemon], [target.NAME], [serve] and [push]"
                                          : fmt::format("did you mean [{}]?", nearest));
    }
    if (entry.key == "daemon") return apply_keys(*table, daemon_keys(config_), file, entry.key);
    if (entry.key == "serve") return apply_keys(*table, serve_keys(config_.serve), file, entry.key);
    if (entry.key == "push") return apply_keys(*table, push_keys(config_.serve.push), file, entry.key);
    for (const TomlEntry& target : *table) HAWK_TRY_VOID(add_target(target, file));
    return {};
  }

  Result<void> add_target(const TomlEntry& entry, const std::string& file) {
    const std::string where = fmt::format("{}:{}: target.{}", file, entry.value.line, entry.key);
    const auto* table = std::get_if<TomlValue::Table>(&entry.value.value);
    if (table == nullptr) return refuse_value(where, "this is no table", "write [target.NAME], and its keys below");
    if (!is_target_name(entry.key)) {
      return refuse_value(where, "this is no name for a target",
                          fmt::format("use at most {} letters, digits and any of _-.@:", kLongestName));
    }
    if (targets_.size() == kMostTargets && !targets_.contains(entry.key)) {
      return refuse_value(where, fmt::format("there are more than {} targets", kMostTargets), "merge some of them");
    }
    const auto [target, is_new] = targets_.try_emplace(entry.key);
    if (is_new) {
      target->second.config.name = entry.key;
      target->second.where = where;
    }
    return apply_keys(*table, target_keys(target->second.config), file, fmt::format("target.{}", entry.key));
  }

  static Result<void> check(const Target& target) {
    const TargetConfig& config = target.config;
    if (config.processes.empty() && config.pid_file.empty()) {
      return refuse_value(target.where, "nothing says which processes are meant",
                          "add unit, exe, comm, name, cgroup, container or pid-file");
    }
    if (!config.processes.empty() && !config.pid_file.empty()) {
      return refuse_value(target.where, "pid-file alone says which process is meant",
                          "leave out pid-file, or the other keys");
    }
    if (config.recording.keep_bytes < config.recording.file_bytes) {
      return refuse_value(target.where, "keep-size is smaller than record-file-size",
                          "raise keep-size, or reduce record-file-size");
    }
    return {};
  }

  DaemonConfig config_;
  std::map<std::string, Target> targets_;
};

Result<ConfigText> read_text(const std::string& path) {
  const UniqueFd fd = open_regular_file(path);
  const std::optional<FileState> state = fd ? state_of(fd) : std::nullopt;
  if (!state) {
    return system_failure(ExitCode::kFile, fmt::format("read {}", path), errno,
                          "hawktrace config --example prints a configuration to begin with");
  }
  if (state->size_bytes > kMaxTomlBytes) {
    return fail(ExitCode::kUsage, fmt::format("read {}: it is larger than {} bytes", path, kMaxTomlBytes),
                "is this the configuration?");
  }
  std::optional<std::string> text = read_to_end(fd.get());
  if (!text) return system_failure(ExitCode::kFile, fmt::format("read {}", path), errno);
  return ConfigText{path, std::move(*text)};
}

/// "/etc/hawktrace/hawktrace.toml": "/etc/hawktrace/hawktrace.d".
std::string drop_in_directory(const std::string& path) {
  const std::size_t length = path.ends_with(kSuffix) ? path.size() - kSuffix.size() : path.size();
  return path.substr(0, length) + ".d";
}

void add_example(std::string& text, std::string_view title, std::string_view table, const ConfigKeys& keys) {
  text += fmt::format("\n# {}\n#[{}]\n", title, table);
  for (const ConfigKey& key : keys) {
    text += fmt::format("#{} = {}  # {}{}\n", key.name, key.example, key.help, key.is_default ? " (default)" : "");
  }
}

}  // namespace

Result<DaemonConfig> parse_config(const std::vector<ConfigText>& files) {
  Merger merger;
  for (const ConfigText& file : files) HAWK_TRY_VOID(merger.add(file));
  return merger.finish();
}

Result<std::vector<ConfigText>> read_config(const std::string& path) {
  std::vector<ConfigText> texts = {HAWK_TRY(read_text(path))};
  const std::string directory = drop_in_directory(path);
  for (const DirectoryEntry& entry : entries_of(directory)) {
    if (entry.name.ends_with(kSuffix) && entry.name.front() != '.') {
      texts.push_back(HAWK_TRY(read_text(directory + "/" + entry.name)));
    }
  }
  return texts;
}

std::string example_config() {
  DaemonConfig daemon;
  TargetConfig target;
  std::string text =
      "# Configuration of hawktrace daemon. Files in hawktrace.d beside this one, *.toml, override single keys of it, "
      "in "
      "the order of\n# their names. \"hawktrace config --check\" checks all of them; \"systemctl reload hawktrace\" "
      "applies them.\n"
      "# Sizes are bytes with k, M, G or T (powers of 1024), times are numbers with ms, s, m and h.\n";
  add_example(text, "The daemon itself.", "daemon", daemon_keys(daemon));
  add_example(text, "What is traced: one table for each target. NAME is yours.", "target.NAME", target_keys(target));
  add_example(text, "Metrics and profiles over HTTP. Names of functions and programs are private data.", "serve",
              serve_keys(daemon.serve));
  add_example(
      text,
      "Profiles sent to a Pyroscope server. One on another host takes a drop-in for hawktrace.service: network.conf.",
      "push", push_keys(daemon.serve.push));
  return text;
}

}  // namespace hawk

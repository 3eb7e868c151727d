#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/debuginfod.h"
#include "userspace/commands/recorded_options.h"
#include "userspace/tables/selection.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// What the user asked for of a difference.
struct DiffOptions {
  std::string before;  ///< the recordings' files; the same one for two times of one
  std::string after;
  std::optional<std::chrono::nanoseconds> from;  ///< since the trace of `before` began; nullopt: its end
  std::optional<std::chrono::nanoseconds> to;    ///< the same of `after`
  std::optional<TargetChoice> target;            ///< of several, in both
  ModuleSearch search;
  DebuginfodOptions debuginfod;
  Selection selection = {};
  enum class Form { kText, kJson, kFlameGraph };
  Form form = Form::kText;
  std::optional<std::string> output_path;
  FrameFilter filter;
  GroupKind by = GroupKind::kStack;  ///< or what is_of_targets()
  bool full_stacks = false;
  bool raw_bytes = false;
  Verbosity verbosity = Verbosity::kNormal;
};

/// `hawktrace diff A B`: what has changed, stack by stack.
Result<int> diff_command(int argc, const char* const* argv);

/// The text about the command, and its options, which set `options`.
const CommandText& diff_text();
OptionRows diff_rows(DiffOptions& options);

}  // namespace hawk

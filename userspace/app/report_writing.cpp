#include "userspace/app/report_writing.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "symbolizer/plumbing.h"
#include "userspace/report/json_report.h"
#include "userspace/report/text_report.h"

namespace hawk {
namespace {

/// Columns to fit the report into; 0, any length, unless it goes to a terminal.
std::size_t width_of(const ReportOutput& output) {
  winsize size = {};
  if (!output.is_terminal() || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

TextOptions text_options(const Options& options, const ReportOutput& output) {
  TextOptions text;
  text.selection = options.selection();
  text.is_plumbing = is_plumbing;
  text.full_stacks = options.full_stacks;
  text.raw_bytes = options.raw_bytes;
  text.color = use_color(options.color, output.is_terminal(), std::getenv("NO_COLOR"), std::getenv("TERM"));
  text.width = width_of(output);
  return text;
}

}  // namespace

Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const Options& options,
                          ReportOutput& output) {
  if (options.format == FormatChoice::kText) {
    return output.write(render_text(snapshot, symbolizer, text_options(options, output)));
  }
  JsonOptions json;
  json.selection = options.selection();
  return output.write(render_json(snapshot, symbolizer, json));
}

}  // namespace hawk

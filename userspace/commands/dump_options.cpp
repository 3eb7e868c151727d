#include "userspace/commands/dump_options.h"

#include <string>

#include "userspace/commands/option_setters.h"

namespace hawk {
namespace {

using Value = OptionRow::Value;

/// A number of bytes other than 0.
Result<void> set_step(std::optional<std::uint64_t>& target, OptionValue value) {
  HAWK_TRY_VOID(set_size(target, value));
  if (*target != 0) return {};
  return fail(ExitCode::kUsage, std::string(value.option) + ": the size must not be 0",
              "give a size such as 100M or 1G");
}

}  // namespace

void add_dump_rows(OptionRows& rows, DumpOptions& options, const char* group) {
  rows.push_back(
      {"--dump-allocated", Value::kRequired, "BYTES", group,
       "write a dump each time this many more bytes have been\nallocated (checked every --interval, like the next two)",
       [&options](OptionValue v) { return set_step(options.allocated_bytes, v); }});
  rows.push_back({"--dump-growth", Value::kRequired, "BYTES", group,
                  "write a dump when this many more bytes are live than at\nthe last dump",
                  [&options](OptionValue v) { return set_step(options.growth_bytes, v); }});
  rows.push_back({"--dump-peak", Value::kNone, nullptr, group,
                  "write a dump at each new peak of live bytes, 10 % and\n1 MiB above the last one dumped",
                  turn_on(options.at_peak)});
}

}  // namespace hawk

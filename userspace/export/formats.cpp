#include "userspace/export/exchange_formats.h"
#include "userspace/export/format.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"

namespace hawk {
namespace {

constexpr Format kFormats[] = {
    {"text", "txt", "for people", true, true, write_text_report},
    {"json", "json", "for programs: one document, or one a line", false, true, write_json_report},
    {"folded", "folded",
     "a line a stack with one number, that of --sort: for flamegraph.pl, inferno, speedscope and most viewers of "
     "stacks",
     false, false, write_folded},
    {"pprof", "pb.gz", "a heap profile, symbolized, for go tool pprof and all that reads its files", false, false,
     write_pprof},
    {"speedscope", "speedscope.json", "for the viewer speedscope; what --sort names is shown first", false, false,
     write_speedscope},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

}  // namespace hawk

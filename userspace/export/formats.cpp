#include "userspace/export/exchange_formats.h"
#include "userspace/export/format.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"

namespace hawk {
namespace {

constexpr Format::Groups kByProcess = Format::Groups::kProcesses;

constexpr Format kFormats[] = {
    {"text", "txt", "a report to read", true, true, true, write_text_report, Format::Groups::kAll},
    {"json", "json", "for programs: one document, or one per line", false, true, true, write_json_report,
     Format::Groups::kAll, true},
    {"folded", "folded",
     "one line per stack with one number, that of --sort: for flamegraph.pl, inferno, speedscope and most stack "
     "viewers",
     false, false, true, write_folded, kByProcess},
    {"pprof", "pb.gz", "a heap profile, symbolized, for go tool pprof and compatible tools", false, false, false,
     write_pprof, kByProcess},
    {"pprof-raw", "raw.pb.gz",
     "the same without names: addresses and build ids, for use where go tool pprof finds the binaries itself", false,
     false, false, write_pprof_raw, kByProcess},
    {"flamegraph", "html",
     "a flame graph as one self-contained page for a web browser; the numbers of --sort are shown first", false, false,
     true, write_flame_graph, kByProcess},
    {"speedscope", "speedscope.json", "for the viewer speedscope; the numbers of --sort are shown first", false, false,
     true, write_speedscope, kByProcess},
    {"dhat", "dhat.json", "for dh_view.html of valgrind, and for the Firefox Profiler", false, false, true, write_dhat,
     kByProcess},
    {"massif", "massif.out",
     "for ms_print of valgrind and massif-visualizer: live bytes; for a recording, of each interval", false, false,
     true, write_massif, kByProcess},
    {"heaptrack", "heaptrack", "for heaptrack_print and heaptrack_gui", false, false, true, write_heaptrack},
    {"gperftools", "heap", "a heap profile as gperftools writes it, symbolized, for google-pprof", false, false, true,
     write_gperftools, kByProcess},
    {"jemalloc", "jeprof.heap", "a heap profile as jemalloc writes it, symbolized, for jeprof", false, false, true,
     write_jemalloc, kByProcess},
    {"callgrind", "callgrind.out", "for callgrind_annotate and KCachegrind", false, false, true, write_callgrind,
     kByProcess},
    {"sqlite", "sqlite",
     "a database for sqlite3: the tables targets, stacks, shares, functions, modules, losses, and a view frames", false,
     false, false, write_sqlite},
    {"memhawk-summary", "memhawk_summary.log", "totals and the first stacks, in the format of MemHawk's summary", false,
     true, true, write_memhawk_summary},
    {"memhawk-stacktraces", "memhawk_stacktraces.log", "the stacks, in the format of MemHawk's file of stack traces",
     false, false, true, write_memhawk_stacktraces},
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

}  // namespace hawk

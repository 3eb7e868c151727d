#pragma once

#include "userspace/export/format.h"

// Formats that other tools read, as rows of the table of formats; each in a file of its own name. All of them write all
// stacks of the selection, and what they sum up to is what the report has.
namespace hawk {

/// Folded stacks, as flamegraph.pl and inferno take them: "main;serve;parse 4096", one number, that of the sort key.
/// Stacks that have none of it are left out.
void write_folded(const ReportRequest& request, const TextSink& sink);

/// A heap profile of google/pprof: profile.proto with the four sample types that all its readers know, compressed by
/// gzip. Symbolized, with inlined calls.
void write_pprof(const ReportRequest& request, const TextSink& sink);

/// The same without names: addresses, mappings and build ids, which a reader looks names up by.
void write_pprof_raw(const ReportRequest& request, const TextSink& sink);

/// A flame graph as a page by itself, which loads nothing: zoom, search, a choice of metric, and the inverted graph.
void write_flame_graph(const ReportRequest& request, const TextSink& sink);

/// speedscope's file format, a profile for each metric.
void write_speedscope(const ReportRequest& request, const TextSink& sink);

/// What DHAT's viewer reads, and the Firefox Profiler. Maxima and lifetimes, which are not recorded, are what was live
/// at the end, and 0.
void write_dhat(const ReportRequest& request, const TextSink& sink);

/// A file of massif's: the empty snapshot at the beginning, one for each point of the series, if there is one, and what
/// is live at the end. The last one and the peak have their stacks. Nodes of less than a thousandth of that are summed
/// up, as massif does.
void write_massif(const ReportRequest& request, const TextSink& sink);

/// What heaptrack_print and heaptrack_gui read. The format knows single allocations only, so that a stack's are written
/// with their average size; where they are too many, what was freed is left out, with a warning.
void write_heaptrack(const ReportRequest& request, const TextSink& sink);

/// A heap profile of gperftools, symbolized, as google-pprof reads it.
void write_gperftools(const ReportRequest& request, const TextSink& sink);

/// A heap profile of jemalloc, symbolized, as jeprof reads it.
void write_jemalloc(const ReportRequest& request, const TextSink& sink);

/// A file of callgrind's: what functions allocate by themselves, and by what they call.
void write_callgrind(const ReportRequest& request, const TextSink& sink);

/// A database of SQLite's: stacks with their counters, and their frames as a view.
void write_sqlite(const ReportRequest& request, const TextSink& sink);

/// MemHawk's summary: totals, and the ten stacks with most live bytes and most allocations.
void write_memhawk_summary(const ReportRequest& request, const TextSink& sink);

/// MemHawk's list of stacks, which its summary refers to by number.
void write_memhawk_stacktraces(const ReportRequest& request, const TextSink& sink);

}  // namespace hawk

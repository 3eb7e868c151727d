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

/// speedscope's file format, a profile for each metric.
void write_speedscope(const ReportRequest& request, const TextSink& sink);

}  // namespace hawk

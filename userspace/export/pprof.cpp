#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/gzip_writer.h"
#include "userspace/export/loaded_modules.h"
#include "userspace/tables/stack_ends.h"

namespace hawk {
namespace {

// Numbers of fields, from google/pprof's proto/profile.proto.
namespace profile {
enum : protozero::pbf_tag_type {
  kSampleType = 1,
  kSample = 2,
  kMapping = 3,
  kLocation = 4,
  kFunction = 5,
  kStringTable = 6,
  kDropFrames = 7,
  kTimeNanos = 9,
  kDurationNanos = 10,
  kPeriodType = 11,
  kPeriod = 12,
  kComment = 13,
  kDefaultSampleType = 14
};
}
namespace value_type {
enum : protozero::pbf_tag_type { kType = 1, kUnit = 2 };
}
namespace sample {
enum : protozero::pbf_tag_type { kLocationId = 1, kValue = 2, kLabel = 3 };
}
namespace label {
enum : protozero::pbf_tag_type { kKey = 1, kText = 2, kNumber = 3 };
}
namespace mapping {
enum : protozero::pbf_tag_type {
  kId = 1,
  kMemoryStart = 2,
  kMemoryLimit = 3,
  kFileOffset = 4,
  kFileName = 5,
  kBuildId = 6,
  kHasFunctions = 7,
  kHasFileNames = 8,
  kHasLineNumbers = 9,
  kHasInlineFrames = 10
};
}
namespace location {
enum : protozero::pbf_tag_type { kId = 1, kMappingId = 2, kAddress = 3, kLine = 4 };
}
namespace line {
enum : protozero::pbf_tag_type { kFunctionId = 1, kLine = 2 };
}
namespace function {
enum : protozero::pbf_tag_type { kId = 1, kName = 2, kFileName = 4 };
}

/// What readers leave out at the inner end of stacks unless asked for all frames: it is the same for all of them.
constexpr const char* kAllocatorFrames =
    R"(operator new(\[\])?|(std::__new_allocator|__gnu_cxx::new_allocator|std::allocator|std::allocator_traits)<.*>::allocate)";

const char* sample_type_of(SortKey key) {
  switch (key) {
    case SortKey::kLive:
      return "inuse_space";
    case SortKey::kLiveCount:
      return "inuse_objects";
    case SortKey::kAllocated:
      return "alloc_space";
    case SortKey::kAllocatedCount:
    case SortKey::kFreedCount:
      break;
  }
  return "alloc_objects";
}

/// Knows nothing, so that nothing is looked up.
class NoNames : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId, std::uint64_t) override { return {}; }
  SymbolSource source(ModuleId) override { return SymbolSource::kNone; }
  std::string gap(ModuleId) override { return {}; }
};

class PprofFile {
 public:
  enum class Symbols { kHeld, kLeftToReaders };

  PprofFile(const ReportRequest& request, const TextSink& sink, Symbols symbols)
      : request_(request),
        has_names_(symbols == Symbols::kHeld),
        stacks_(request, ExportedStacks::Names::kWhole),
        modules_(stacks_),
        out_(sink),
        message_(text_) {
    number_of("");
  }

  void write() {
    head();
    bool wanted = true;
    for (const StackRecord* record : stacks_.records()) wanted = wanted && sample_of(*record);
    for (std::size_t index = 0; index < modules_.all().size(); ++index) wanted = wanted && mapping_of(index);
    for (const LocationId id : stacks_.locations()) wanted = wanted && location_of(id);
    for (const ListedFrame& placeholder : stacks_.placeholders()) wanted = wanted && placeholder_of(placeholder);
    for (std::size_t index = 0; index < stacks_.functions().size(); ++index) {
      wanted = wanted && (!is_written(index) || function_of(index));
    }
    for (const std::string* text : texts_) {
      message_.add_string(profile::kStringTable, *text);
      wanted = wanted && go_on();
    }
    if (wanted && out_.put(text_)) out_.finish();
  }

 private:
  /// Without names only the functions that have no code are.
  bool is_written(std::size_t function) const { return has_names_ || function < stacks_.placeholders().size(); }

  /// The index of a text in the table of strings.
  std::int64_t number_of(std::string_view text) {
    const auto [entry, is_new] = numbers_.emplace(text, static_cast<std::int64_t>(texts_.size()));
    if (is_new) texts_.push_back(&entry->first);
    return entry->second;
  }

  bool go_on() {
    if (text_.size() < kPieceBytes) return true;
    const bool wanted = out_.put(text_);
    text_.clear();
    return wanted;
  }

  void value_type_of(protozero::pbf_tag_type field, const char* type, const char* unit) {
    protozero::pbf_writer value(message_, field);
    value.add_int64(value_type::kType, number_of(type));
    value.add_int64(value_type::kUnit, number_of(unit));
  }

  void head() {
    const TraceInfo& trace = request_.snapshot.trace;
    value_type_of(profile::kSampleType, "alloc_objects", "count");
    value_type_of(profile::kSampleType, "alloc_space", "bytes");
    value_type_of(profile::kSampleType, "inuse_objects", "count");
    value_type_of(profile::kSampleType, "inuse_space", "bytes");
    message_.add_int64(profile::kDefaultSampleType, number_of(sample_type_of(request_.selection.sort)));
    value_type_of(profile::kPeriodType, "space", "bytes");
    message_.add_int64(profile::kPeriod, 1);  // nothing is sampled
    message_.add_int64(profile::kTimeNanos, static_cast<std::int64_t>(trace.start_unix_ns));
    message_.add_int64(profile::kDurationNanos, static_cast<std::int64_t>(trace.duration_ns));
    message_.add_int64(profile::kDropFrames, number_of(kAllocatorFrames));
    message_.add_int64(profile::kComment, number_of(origin_line(request_)));
    for (const std::string& loss : loss_lines(request_.snapshot)) {
      message_.add_int64(profile::kComment, number_of(loss));
    }
  }

  std::uint64_t id_of(const ListedFrame& placeholder) const {
    return request_.snapshot.locations.size() + 1 + stacks_.function_of(placeholder);
  }

  bool sample_of(const StackRecord& record) {
    ids_.clear();
    for (const LocationId id : record.frames) {
      if (!stacks_.calls_at(id).empty()) ids_.push_back(static_cast<std::uint64_t>(id) + 1);
    }
    for (const ListedFrame* placeholder : stacks_.placeholders_of(record)) ids_.push_back(id_of(*placeholder));
    bool wanted = true;
    for (const StackShare& share : stacks_.shares_of(record)) wanted = wanted && sample_of(record, share);
    return wanted;
  }

  /// What of a stack is of one process, which labels name where there are several.
  bool sample_of(const StackRecord& record, const StackShare& share) {
    const Counters& counters = share.counters;
    const std::uint64_t values[] = {counters.allocated_count, counters.allocated_bytes, counters.live_count(),
                                    counters.live_bytes()};
    {
      protozero::pbf_writer message(message_, profile::kSample);
      message.add_packed_uint64(sample::kLocationId, ids_.begin(), ids_.end());
      message.add_packed_uint64(sample::kValue, std::begin(values), std::end(values));
      if (record.id != kNoStack && record.quality() != HAWK_STACK_COMPLETE) {
        label_of(message, "stack", quality_name(record.quality()));
      }
      if (!request_.snapshot.parts.empty()) labels_of(message, share.target);
    }
    return go_on();
  }

  void label_of(protozero::pbf_writer& message, const char* key, std::string_view text) {
    if (text.empty()) return;
    protozero::pbf_writer label(message, sample::kLabel);
    label.add_int64(label::kKey, number_of(key));
    label.add_int64(label::kText, number_of(text));
  }

  void labels_of(protozero::pbf_writer& message, TargetId id) {
    const TargetInfo& target = request_.snapshot.targets[static_cast<std::size_t>(id)];
    {
      // Readers take a number they are asked for as that of a number: -tagfocus=pid=42.
      protozero::pbf_writer label(message, sample::kLabel);
      label.add_int64(label::kKey, number_of("pid"));
      label.add_int64(label::kNumber, target.pid);
    }
    label_of(message, "process", printable_unicode(target.comm));
    label_of(message, "exe", printable_unicode(target.exe));
    label_of(message, "cgroup", printable_unicode(target.cgroup));
  }

  bool mapping_of(std::size_t index) {
    const LoadedModule& mapped = modules_.all()[index];
    const Module* module = find_module(request_.snapshot, mapped.module);
    {
      protozero::pbf_writer message(message_, profile::kMapping);
      message.add_uint64(mapping::kId, index + 1);
      message.add_uint64(mapping::kMemoryStart, mapped.start);
      message.add_uint64(mapping::kMemoryLimit, mapped.limit);
      message.add_uint64(mapping::kFileOffset, mapped.file_offset());
      message.add_int64(mapping::kFileName, number_of(module != nullptr ? printable_unicode(module->path) : ""));
      message.add_int64(mapping::kBuildId, number_of(module != nullptr ? printable_unicode(module->build_id) : ""));
      // All that could be found has been: readers need not look for it.
      for (const auto field :
           {mapping::kHasFunctions, mapping::kHasFileNames, mapping::kHasLineNumbers, mapping::kHasInlineFrames}) {
        message.add_bool(field, has_names_);
      }
    }
    return go_on();
  }

  bool location_of(LocationId id) {
    const Location& location = request_.snapshot.location(id);
    {
      protozero::pbf_writer message(message_, profile::kLocation);
      message.add_uint64(location::kId, static_cast<std::uint64_t>(id) + 1);
      if (location.module) message.add_uint64(location::kMappingId, modules_.index_of(location) + 1);
      message.add_uint64(location::kAddress, call_address(location));
      for (const ListedFrame& call : stacks_.calls_at(id)) {
        if (has_names_) line_of(message, call);
      }
    }
    return go_on();
  }

  bool placeholder_of(const ListedFrame& placeholder) {
    {
      protozero::pbf_writer message(message_, profile::kLocation);
      message.add_uint64(location::kId, id_of(placeholder));
      line_of(message, placeholder);
    }
    return go_on();
  }

  void line_of(protozero::pbf_writer& message, const ListedFrame& call) {
    protozero::pbf_writer writer(message, location::kLine);
    writer.add_uint64(line::kFunctionId, stacks_.function_of(call) + 1);
    if (call.source.line != 0) writer.add_int64(line::kLine, call.source.line);
  }

  bool function_of(std::size_t index) {
    const ExportedFunction& called = stacks_.functions()[index];
    {
      protozero::pbf_writer message(message_, profile::kFunction);
      message.add_uint64(function::kId, index + 1);
      // No system name: one that differs from the name means to readers that nothing is left to demangle.
      message.add_int64(function::kName, number_of(called.name));
      message.add_int64(function::kFileName, number_of(called.file));
    }
    return go_on();
  }

  const ReportRequest& request_;
  const bool has_names_;
  const ExportedStacks stacks_;
  const LoadedModules modules_;
  GzipWriter out_;
  std::string text_;
  protozero::pbf_writer message_;
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::vector<const std::string*> texts_;  ///< by number; they are the keys of `numbers_`, which stay where they are
  std::vector<std::uint64_t> ids_;
};

}  // namespace

void write_pprof(const ReportRequest& request, const TextSink& sink) {
  PprofFile(request, sink, PprofFile::Symbols::kHeld).write();
}

void write_pprof_raw(const ReportRequest& request, const TextSink& sink) {
  NoNames no_names;
  // What is left out by name must have one.
  Symbolizer& names = request.filter.is_empty() ? no_names : request.symbolizer;
  ReportRequest raw = {.snapshot = request.snapshot, .symbolizer = names, .selection = request.selection};
  raw.filter = request.filter;
  raw.grouping = request.grouping;
  raw.hawktrace_version = request.hawktrace_version;
  PprofFile(raw, sink, PprofFile::Symbols::kLeftToReaders).write();
}

}  // namespace hawk

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"
#include "userspace/views/call_tree.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr std::uint64_t kPageBytes = 4096;
/// So many allocations and frees are written one by one, for that is all the format knows: some 60 MB.
constexpr std::uint64_t kMostEvents = 10'000'000;

/// How much of what happened a file has room for.
enum class Detail {
  kAll,        ///< every allocation and every free
  kLive,       ///< every live block, and nothing of what was freed
  kLiveBytes,  ///< live bytes, as one block a stack
};

Detail detail_for(const Counters& totals) {
  if (totals.allocated_count + totals.freed_count <= kMostEvents) return Detail::kAll;
  return totals.live_count() <= kMostEvents ? Detail::kLive : Detail::kLiveBytes;
}

const char* left_out_text(Detail detail) {
  if (detail == Detail::kAll) return "";
  return detail == Detail::kLive ? "blocks that were freed are left out" : "the live blocks of a stack are one block";
}

/// `count` blocks of `bytes` in all, as equal as they can be.
struct Blocks {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;

  std::uint64_t size() const { return bytes / count; }
  std::uint64_t larger() const { return bytes % count; }  ///< so many have one byte more
};

class HeaptrackFile {
 public:
  HeaptrackFile(const ReportRequest& request, const TextSink& sink)
      : request_(request),
        stacks_(request, ExportedStacks::Names::kWhole),
        out_(sink),
        detail_(detail_for(stacks_.totals())) {}

  void write() {
    head();
    for (const StackRecord* record : stacks_.records()) {
      traces_.push_back(trace_of(*record));
      if (!out_.go_on()) return;
    }
    out_.text() += "c 0\n";
    for (std::size_t i = 0; i < traces_.size() && detail_ == Detail::kAll; ++i) {
      const Counters& counters = stacks_.records()[i]->counters;
      if (!freed({counters.freed_bytes, counters.freed_count}, traces_[i])) return;
    }
    for (std::size_t i = 0; i < traces_.size(); ++i) {
      const Counters& counters = stacks_.records()[i]->counters;
      const bool as_one = detail_ == Detail::kLiveBytes && counters.live_count() != 0;
      if (!live({counters.live_bytes(), as_one ? 1 : counters.live_count()}, traces_[i])) return;
    }
    free_pending();
    tail();
    out_.finish();
  }

 private:
  void head() {
    const Snapshot& snapshot = request_.snapshot;
    out_.put("v 10400 2\n# {}\n", origin_line(request_));
    for (const std::string& loss : loss_lines(snapshot)) out_.put("# {}\n", loss);
    if (detail_ != Detail::kAll) {
      out_.put("# {}\n", left_out_text(detail_));
      log_warning(fmt::format("heaptrack's format has a line for each allocation, and there were too many: {}",
                              left_out_text(detail_)));
    }
    out_.put("X {}\n{}I {:x} 0\n", printable_unicode(snapshot.target().exe), snapshot.trace.from_start ? "" : "A\n",
             kPageBytes);
  }

  void tail() {
    const Snapshot& snapshot = request_.snapshot;
    out_.put("c {:x}\n", snapshot.trace.duration_ns / kNsPerMs);
    if (snapshot.memory) out_.put("R {:x}\n", snapshot.memory->resident_bytes / kPageBytes);
  }

  std::size_t text_number(const std::string& text) {
    if (text.empty()) return 0;
    const auto [entry, is_new] = texts_.emplace(text, texts_.size() + 1);
    if (is_new) out_.put("s {}\n", text);
    return entry->second;
  }

  /// The number of an instruction with these calls, which are inlined into each other.
  std::size_t instruction_number(std::uint32_t key, std::uint64_t address, std::span<const ListedFrame> calls) {
    const auto [entry, is_new] = instructions_.emplace(key, instructions_.size() + 1);
    if (!is_new) return entry->second;
    const Location& location = calls.front().location;
    const Module* module = location.module ? find_module(request_.snapshot, *location.module) : nullptr;
    std::string line =
        fmt::format("i {:x} {:x}", address, text_number(module != nullptr ? printable_unicode(module->path) : ""));
    for (const ListedFrame& call : calls) {
      if (call.source.function.empty() && !stacks_.is_placeholder(call)) continue;
      const ExportedFunction& function = stacks_.functions()[stacks_.function_of(call)];
      const std::size_t name = text_number(function.name);
      line += fmt::format(" {:x} {:x} {:x}", name, text_number(function.file), call.source.line);
    }
    out_.text() += line + '\n';
    return entry->second;
  }

  void add_trace(CallTree::Node& node, std::uint32_t key, std::uint64_t address, std::span<const ListedFrame> calls) {
    const std::size_t instruction = instruction_number(key, address, calls);
    const std::size_t before = tree_.size();
    const CallTree::Node parent = node;
    node = tree_.below(parent, key);
    if (tree_.size() != before) out_.put("t {:x} {:x}\n", instruction, static_cast<std::uint32_t>(parent));
  }

  /// The number of the trace of a stack; that of its callers are those of nodes of the tree.
  std::uint32_t trace_of(const StackRecord& record) {
    CallTree::Node node = CallTree::kRoot;
    const auto placeholder_key = static_cast<std::uint32_t>(request_.snapshot.locations.size());
    const ListedFrame& outermost = *stacks_.calls(record).back();
    if (stacks_.is_placeholder(outermost)) {
      add_trace(node, placeholder_key + static_cast<std::uint32_t>(stacks_.function_of(outermost)), 0,
                std::span(&outermost, 1));
    }
    for (std::size_t i = record.frames.size(); i-- > 0;) {
      const LocationId id = record.frames[i];
      if (stacks_.calls_at(id).empty()) continue;
      add_trace(node, static_cast<std::uint32_t>(id), call_address(request_.snapshot.location(id)),
                stacks_.calls_at(id));
    }
    return static_cast<std::uint32_t>(node);
  }

  std::uint64_t new_block(std::uint64_t bytes, std::uint32_t trace) {
    out_.put("a {:x} {:x}\n", bytes, trace);
    return blocks_++;
  }

  bool live(const Blocks& blocks, std::uint32_t trace) {
    if (blocks.count == 0) return true;
    for (const bool is_larger : {false, true}) {
      const std::uint64_t count = is_larger ? blocks.larger() : blocks.count - blocks.larger();
      if (count == 0) continue;
      const std::uint64_t block = new_block(blocks.size() + (is_larger ? 1 : 0), trace);
      for (std::uint64_t i = 0; i < count; ++i) {
        out_.put("+ {:x}\n", block);
        free_pending();
        if (!out_.go_on()) return false;
      }
    }
    return true;
  }

  /// A free that follows its allocation is what the reader calls temporary. Which of these blocks were is not known:
  /// each is freed behind the next allocation, so that none is called so, and few are there at a time, so that the
  /// peak is not theirs.
  bool freed(const Blocks& blocks, std::uint32_t trace) {
    if (blocks.count == 0) return true;
    for (const bool is_larger : {false, true}) {
      const std::uint64_t count = is_larger ? blocks.larger() : blocks.count - blocks.larger();
      if (count == 0) continue;
      const std::uint64_t bytes = blocks.size() + (is_larger ? 1 : 0);
      const std::array<std::uint64_t, 2> pair = {new_block(bytes, trace), new_block(bytes, trace)};
      for (std::uint64_t i = 0; i < count; ++i) {
        out_.put("+ {:x}\n", pair[i % 2]);
        free_pending();
        pending_ = pair[i % 2];
        if (!out_.go_on()) return false;
      }
    }
    return true;
  }

  void free_pending() {
    if (pending_) out_.put("- {:x}\n", *pending_);
    pending_.reset();
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
  const Detail detail_;
  CallTree tree_;  ///< of locations; a node is the trace of its number
  std::vector<std::uint32_t> traces_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::unordered_map<std::uint32_t, std::size_t> instructions_;
  std::uint64_t blocks_ = 0;
  std::optional<std::uint64_t> pending_;  ///< a block that is to be freed
};

}  // namespace

void write_heaptrack(const ReportRequest& request, const TextSink& sink) { HeaptrackFile(request, sink).write(); }

}  // namespace hawk

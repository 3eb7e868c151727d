#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"
#include "userspace/tables/word_numbers.h"

namespace hawk {
namespace {

/// What stacks say of calls: the costs of a line of a function by itself, and those of what is called from there.
class Costs {
 public:
  static constexpr std::uint32_t kItself = 0xffffffff;

  struct Row {
    std::uint32_t function = 0;
    std::uint32_t line = 0;
    std::uint32_t callee = kItself;  ///< a function; kItself: none is called
    Counters counters;
  };

  explicit Costs(const ExportedStacks& stacks) : stacks_(stacks) {
    for (const StackRecord* record : stacks.records()) add(*record);
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
      // kItself first
      return std::tuple(a.function, a.callee + 1, a.line) < std::tuple(b.function, b.callee + 1, b.line);
    });
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  enum class Number : std::uint32_t {};

  /// A position that calls, or is asked for its own costs: of all calls, those of one line of a function are one.
  std::uint32_t position_of(const ListedFrame& call) {
    const std::size_t number = stacks_.number_of(call);
    if (positions_.empty()) positions_.resize(stacks_.call_count(), kItself);
    if (positions_[number] == kItself) {
      const std::uint64_t word = std::uint64_t{stacks_.function_of(call)} << 32U | call.source.line;
      positions_[number] = static_cast<std::uint32_t>(
          position_numbers_.find_or_add(word, [&] { return static_cast<Number>(position_numbers_.size()); }));
    }
    return positions_[number];
  }

  std::uint32_t row_of(const ListedFrame& call, std::uint32_t callee) {
    const std::uint64_t word = std::uint64_t{position_of(call)} << 32U | callee;
    return static_cast<std::uint32_t>(row_numbers_.find_or_add(word, [&] {
      rows_.push_back({static_cast<std::uint32_t>(stacks_.function_of(call)), call.source.line, callee, {}});
      return static_cast<Number>(rows_.size() - 1);
    }));
  }

  void add(const StackRecord& record) {
    ++stack_;
    last_stack_.resize(stacks_.functions().size());
    std::uint32_t callee = kItself;
    for (const ListedFrame* call : stacks_.calls(record)) {
      const std::size_t function = stacks_.function_of(*call);
      // Of a recursion the innermost call counts: what a function has with all it calls is no more than there is.
      if (std::exchange(last_stack_[function], stack_) != stack_) {
        rows_[row_of(*call, callee)].counters += record.counters;
      }
      callee = static_cast<std::uint32_t>(function);
    }
  }

  const ExportedStacks& stacks_;
  std::vector<std::uint32_t> positions_;  ///< by number of the call
  WordNumbers<Number> position_numbers_;
  WordNumbers<Number> row_numbers_;
  std::vector<Row> rows_;
  std::vector<std::uint32_t> last_stack_;  ///< that was added to a function's rows, by function
  std::uint32_t stack_ = 0;
};

class CallgrindFile {
 public:
  CallgrindFile(const ReportRequest& request, const TextSink& sink)
      : request_(request), stacks_(request, ExportedStacks::Names::kWhole), out_(sink) {}

  void write() {
    const Snapshot& snapshot = request_.snapshot;
    out_.put("# callgrind format\nversion: 1\ncreator: hawktrace {}\npid: {}\ncmd: {}\ndesc: Trigger: {}\n",
             request_.hawktrace_version, snapshot.target().pid, command_text(snapshot), origin_line(request_));
    out_.text() += "positions: line\nevents: LiveBytes LiveBlocks AllocatedBytes AllocatedBlocks\n";
    out_.text() += "summary:";
    put_counters(stacks_.totals());
    const Costs costs(stacks_);
    std::uint32_t function = Costs::kItself;
    for (const Costs::Row& row : costs.rows()) {
      if (std::exchange(function, row.function) != row.function) {
        out_.text() += '\n';
        put_function("fl", "fn", row.function);
      }
      if (row.callee != Costs::kItself) {
        put_function("cfi", "cfn", row.callee);
        out_.put("calls={} 0\n", row.counters.allocated_count);
      }
      out_.put("{}", row.line);
      put_counters(row.counters);
      if (!out_.go_on()) return;
    }
    out_.text() += "\ntotals:";
    put_counters(stacks_.totals());
    out_.finish();
  }

 private:
  void put_counters(const Counters& counters) {
    out_.put(" {} {} {} {}\n", counters.live_bytes(), counters.live_count(), counters.allocated_bytes,
             counters.allocated_count);
  }

  /// Names are written with a number the first time, and are that number afterwards; a name that looks like a number
  /// in brackets is distinguished from one so.
  void put_function(const char* file_key, const char* key, std::uint32_t index) {
    const ExportedFunction& function = stacks_.functions()[index];
    const auto [file, is_new_file] = files_.emplace(function.file, files_.size() + 1);
    out_.put("{}=({})", file_key, file->second);
    if (is_new_file) out_.put(" {}", function.file.empty() ? "???" : function.file);
    out_.put("\n{}=({})", key, index + 1);
    named_.resize(stacks_.functions().size());
    if (std::exchange(named_[index], char{1}) == 0) out_.put(" {}", function.name);
    out_.text() += '\n';
  }

  const ReportRequest& request_;
  const ExportedStacks stacks_;
  PieceWriter out_;
  std::unordered_map<std::string, std::size_t> files_;
  std::vector<char> named_;  ///< by function
};

}  // namespace

void write_callgrind(const ReportRequest& request, const TextSink& sink) { CallgrindFile(request, sink).write(); }

}  // namespace hawk

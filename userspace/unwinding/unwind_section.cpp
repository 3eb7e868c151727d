/// .eh_frame holds, for every function, a small program that says how its frame looks from instruction to instruction:
///
///     .eh_frame ──▶ records ──────────▶ sorted functions ──▶ programs are run ──▶ rules ──▶ rows
///                   (frame_records.h)                        (frame_program.h)   (frame_rule.h) (row_assembly.h)
///
/// Of a table for twenty registers only the CFA, the return address and rbp are kept: that is all that walking takes.
#include "userspace/unwinding/unwind_section.h"

#include <algorithm>
#include <tuple>

#include "userspace/unwinding/arch/x86_64/registers.h"
#include "userspace/unwinding/frame_program.h"
#include "userspace/unwinding/frame_records.h"
#include "userspace/unwinding/row_assembly.h"

namespace hawk {
namespace {

/// Offsets in rows have 32 bits.
constexpr std::uint64_t kMaxSpan = UINT32_MAX;

/// What holds at the first address of every function that refers to a common record.
struct InitialState {
  FrameState state;
  Unsupported flaw = Unsupported::kNothing;
};

InitialState initial_state(const CommonRecord& common, FrameProgram& program) {
  if (common.flaw != Unsupported::kNothing) return {{}, common.flaw};
  if (common.return_address_column != arch::kReturnAddress) return {{}, Unsupported::kReturnAddressColumn};
  const FrameState nothing;
  program.begin(common, nothing, common.instructions, 0, 0);
  const FrameProgram::Stop stop = program.run();
  // There is no location yet that could move.
  if (stop == FrameProgram::Stop::kMoved) return {{}, Unsupported::kDamagedInstructions};
  return {.state = program.state(), .flaw = program.flaw()};
}

/// Not a function, which sorting would call through a pointer.
struct ComesBefore {
  bool operator()(const FunctionRecord& one, const FunctionRecord& other) const {
    if (one.begin != other.begin) return one.begin < other.begin;
    return std::tuple(other.bytes, one.instructions_at) < std::tuple(one.bytes, other.instructions_at);
  }
};

class TableReader {
 public:
  TableReader(const UnwindSection& section, RuleSet& rules, std::size_t max_rows)
      : section_(section), rules_(rules), max_rows_(max_rows) {}

  UnwindTable read() {
    records_ = read_frame_records(section_, unsupported_);
    for (const CommonRecord& common : records_.commons) initial_.push_back(initial_state(common, program_));
    std::vector<FunctionRecord>& functions = records_.functions;
    if (!std::is_sorted(functions.begin(), functions.end(), ComesBefore())) {
      std::sort(functions.begin(), functions.end(), ComesBefore());
    }
    UnwindTable table;
    if (!functions.empty()) {
      table.base_vaddr = functions[0].begin;
      RowAssembly assembly(table.base_vaddr, max_rows_, rules_, unsupported_);
      for (const FunctionRecord& function : functions) add(function, table.base_vaddr, assembly);
      table.rows = assembly.finish();
    }
    table.unsupported = unsupported_.by_name();
    return table;
  }

 private:
  void add(const FunctionRecord& function, std::uint64_t base_vaddr, RowAssembly& assembly) {
    const InitialState& initial = initial_[function.common];
    const std::uint64_t end = function.begin + function.bytes;
    if (initial.flaw != Unsupported::kNothing) return unsupported_.add(initial.flaw);
    if (end - base_vaddr > kMaxSpan) return unsupported_.add(Unsupported::kFarAway);
    const CommonRecord& common = records_.commons[function.common];
    program_.begin(common, initial.state, section_.bytes.subspan(function.instructions_at, function.instruction_bytes),
                   section_.vaddr + function.instructions_at, function.begin);
    assembly.add(function.begin, end, common.is_signal_frame, program_);
  }

  const UnwindSection& section_;
  RuleSet& rules_;
  std::size_t max_rows_;
  UnsupportedCounts unsupported_;
  FrameRecords records_;
  std::vector<InitialState> initial_;  ///< by common record
  FrameProgram program_;
};

}  // namespace

UnwindTable read_unwind_table(const UnwindSection& section, RuleSet& rules, std::size_t max_rows) {
  // Offsets into the section are kept in 32 bits; no section comes near.
  UnwindSection readable = section;
  readable.bytes = section.bytes.first(std::min<std::size_t>(section.bytes.size(), UINT32_MAX));
  return TableReader(readable, rules, max_rows).read();
}

}  // namespace hawk

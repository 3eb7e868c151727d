#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/quantity.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// A module whose missing symbols cause missing names in the stacks of a report.
struct SymbolGap {
  ModuleId module{};
  /// No symbol of any kind: `affected_bytes` counts every stack of the snapshot that passes through the module.
  /// Otherwise only some functions are nameless, and it counts the shown stacks that pass through one of those.
  bool no_symbols = false;
  std::uint64_t affected_bytes = 0;
  std::string cause = {};  ///< why its files were not read completely: see Symbolizer::gap
};

/// Collects nameless frames, and modules, while the stacks of a report are rendered.
class SymbolGaps {
 public:
  explicit SymbolGaps(Quantity quantity) : quantity_(quantity) {}

  /// Takes note of a stack that is shown.
  void add(const StackRecord& stack, const FrameList& frames);
  /// Bytes of the stacks that pass through code outside files without a name.
  std::uint64_t bytes_in_no_file() const { return in_no_file_.shown_bytes; }
  /// Largest share first.
  std::vector<SymbolGap> gaps(const Snapshot& snapshot, Symbolizer& symbolizer) const;

 private:
  struct Nameless {
    std::uint64_t shown_bytes = 0;
    std::size_t last_stack = 0;  ///< which of the added ones passed through last, counted from 1
  };
  Quantity quantity_;
  std::size_t added_ = 0;
  Nameless in_no_file_;
  std::map<ModuleId, Nameless> nameless_;
  std::set<ModuleId> shown_modules_;
  std::optional<ModuleId> last_module_;  ///< the last ones added to: the next call is mostly of the same
};

/// Whether a stack passes through code outside files that has no name.
bool has_nameless_code_in_no_file(const Snapshot& snapshot, Symbolizer& symbolizer);

/// How to get names of code outside files.
inline constexpr const char* kPerfMapHint =
    "hint: such code gets names from a perf map, /tmp/perf-PID.map, which must be there or be turned on: python3 -X "
    "perf (3.12 or newer), node --perf-basic-prof, jcmd PID Compiler.perfmap for Java (17 or newer)";

/// The line about `gap`, which is one of `module`; `share`: what part of all bytes it affects.
std::string gap_text(const SymbolGap& gap, const Module& module, const std::string& share);

}  // namespace hawk

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "symbolizer/symbolizer.h"

namespace hawk {

/// What JIT compilers and interpreters say of the code that they make: lines "START SIZE NAME", both numbers in
/// hexadecimal, in a file that grows (perf's documentation: jit-interface.txt). Where code lies, other code may lie
/// later: the last line counts. The text is not to be trusted: lines that make no sense are passed over, and there is a
/// limit to what is kept.
class PerfMap {
 public:
  /// Takes the next part of the file. A line may be cut at its end: the rest comes with the next part.
  void add(std::string_view text);
  /// The file has been replaced: what follows is from its beginning.
  void clear();

  /// What is known of the call that returns to `address`.
  std::optional<SourceFrame> find(std::uint64_t address) const;
  bool empty() const { return code_.empty(); }

 private:
  struct Code {
    std::uint64_t end = 0;  ///< one past the last address
    std::string name;
  };
  void add_line(std::string_view line);

  std::map<std::uint64_t, Code> code_;  ///< by first address; never overlapping
  std::string cut_line_;
};

/// A perf map's name as function, file and line, as far as the known writers have it: CPython's "py::NAME:FILE", V8's
/// "JS:*NAME FILE:LINE:COLUMN".
SourceFrame frame_of_perf_map_name(std::string_view name);

}  // namespace hawk

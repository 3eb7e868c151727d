#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// One source-level frame at an address. Empty or zero members: unknown.
struct SourceFrame {
  std::string function;  ///< demangled, without the template and parameter noise removed: as c++filt prints it
  std::string file;      ///< as the debug information spells it, joined with its compilation directory
  std::uint32_t line = 0;
  bool inlined = false;  ///< this function's body was inlined into the next frame of the list
  bool operator==(const SourceFrame&) const = default;
};

/// What could be found out about a module.
enum class SymbolSource {
  kNone,         ///< no symbol of any kind: only offsets
  kDynamicOnly,  ///< only .dynsym: exported functions, no static ones, no lines
  kSymtab,       ///< function names, no lines
  kDebugInfo,    ///< names, inlines and lines
};

/// Turns addresses in modules into functions, files and lines. Reports depend on this interface only.
class Symbolizer {
 public:
  virtual ~Symbolizer() = default;

  /// The frames at return address `module_offset` (an ELF virtual address) of `module`, innermost inlined call first,
  /// the function that really contains the code last. Looks up the call, that is one byte before the return address.
  /// Empty when nothing is known.
  virtual std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) = 0;

  /// As frames(), of code that lies in no file, as JIT compilers make it, at return address `address`.
  virtual std::vector<SourceFrame> frames_in_no_file(std::uint64_t /*address*/) { return {}; }
  /// Says that frames_in_no_file() will be asked for all of these, as prepare() does for frames().
  virtual void prepare_in_no_file(std::span<const std::uint64_t> /*addresses*/) {}

  /// Says that frames() will be asked for all of these return addresses of `module`, in any order: it may be faster to
  /// look them up together. Changes no answer. May take as long as all those questions; callers that show progress pass
  /// some thousands at a time, sorted, so that each part is of one neighbourhood.
  virtual void prepare(ModuleId /*module*/, std::span<const std::uint64_t> /*module_offsets*/) {}

  /// What was found for `module`.
  virtual SymbolSource source(ModuleId module) = 0;

  /// Why less is known of `module` than its files hold: "its debug information is not read: ..."; empty when they were
  /// read as far as they go.
  virtual std::string gap(ModuleId /*module*/) { return {}; }
};

}  // namespace hawk

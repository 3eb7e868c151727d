#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbolizer/dwarf_lookup.h"
#include "symbolizer/elf_file.h"
#include "symbolizer/frame_answers.h"
#include "symbolizer/string_pool.h"
#include "symbolizer/symbol_table.h"
#include "symbolizer/symbolizer.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A file that frames lie in, and where to look for its debug information.
struct ModuleFile {
  std::string path;   ///< absolute, as the target sees it: what .gnu_debuglink is relative to
  UniqueFd fd;        ///< open for reading; the only way the file is read. None: its addresses have no names
  std::string root;   ///< "", or "/proc/PID/root" where the target has its own file system
  bool vdso = false;  ///< the kernel's image in every process, which has no path; `fd`: a copy
  /// The same for files that have the same symbols, by build id; empty: no other file is known to have them.
  std::string known_as = {};
};

/// The gap of a module whose files were closed.
inline constexpr const char* kFilesClosed =
    "it was deleted and unloaded, like many others: its remaining names had not been read by then";

/// The symbols of one module: opened at the first question, every answer kept. What the file holds may make us spend so
/// much memory and no more: beyond that its debug information is given up, and then its symbols, and gap() says so.
class ModuleSymbols {
 public:
  explicit ModuleSymbols(ModuleFile file) : file_(std::move(file)) {}

  /// As Symbolizer::frames.
  std::vector<SourceFrame> frames(std::uint64_t module_offset);
  /// As Symbolizer::prepare.
  void prepare(std::span<const std::uint64_t> module_offsets);
  /// As Symbolizer::source.
  SymbolSource source();
  /// As Symbolizer::gap.
  const std::string& gap() const { return gap_; }
  /// Whether frames() has nothing to look up.
  bool knows(std::uint64_t module_offset) const { return answers_.has(module_offset); }
  /// About what is taken by debug information that is held open, not by answers.
  std::size_t open_bytes() { return dwarf_ ? dwarf_->memory_bytes() : 0; }
  /// Closes the debug information. The next question that has no answer yet opens it again.
  void close() { dwarf_.reset(); }
  /// Closes all files for good. Answers are kept.
  void close_files();

 private:
  template <class Work>
  void within_budget(const Work& work);
  void give_up(const char* why);
  void load();
  void open_dwarf();
  void answer(std::uint64_t module_offset);
  std::vector<PooledFrame> look_up(std::uint64_t address);

  ModuleFile file_;
  bool loaded_ = false;
  std::string gap_;
  // The order matters: what refers to an image goes before the image.
  std::optional<ElfFile> image_;
  std::optional<FoundFile> debug_file_;  ///< the separate one, if there is any
  std::optional<ElfFile> mini_debug_info_;
  bool has_dwarf_ = false;
  StringPool pool_;
  std::unique_ptr<DwarfLookup> dwarf_;
  SymbolTable symbols_;
  FrameAnswers answers_;
};

}  // namespace hawk

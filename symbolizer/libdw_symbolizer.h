#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "symbolizer/module_symbols.h"
#include "symbolizer/symbolizer.h"

namespace hawk {

/// Symbolizer that reads ELF and DWARF files, by libelf and libdw. Nothing of a module is read before its
/// first address is asked; no answer is computed twice. Memory follows the answers: indices of debug information are
/// dropped and rebuilt when they pass a budget. Never asks the network (debuginfod). For one thread at a time.
class LibdwSymbolizer : public Symbolizer {
 public:
  static std::unique_ptr<LibdwSymbolizer> make();

  /// Makes `module` known. A second file for the same module replaces the first, with all its answers.
  void add_module(ModuleId module, ModuleFile file);

  /// Closes the files of `module` permanently: names that have not been looked up by now remain unknown.
  void close_files(ModuleId module);

  /// As the interface says; empty also for a module that was never added.
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  /// As the interface says. Addresses are looked up unit by unit, so that each unit of the debug information is
  /// read once, whatever number of them there is: many addresses in random order take several times as long.
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override;
  /// As the interface says; kNone also for a module that was never added.
  SymbolSource source(ModuleId module) override;
  /// As the interface says, of what has been asked so far.
  std::string gap(ModuleId module) override;

 private:
  LibdwSymbolizer() = default;

  void limit_memory(ModuleSymbols* asked);

  std::map<ModuleId, std::unique_ptr<ModuleSymbols>> modules_;
  std::vector<ModuleSymbols*> open_;  ///< those that hold debug information, the one asked last at the end
};

}  // namespace hawk

#pragma once

#include <map>
#include <memory>

#include "symbolizer/module_symbols.h"
#include "symbolizer/symbolizer.h"

namespace hawk {

/// Symbolizer that reads ELF and DWARF files with libelf and libdw. Nothing of a module is read before its first
/// address is asked; no answer is computed twice. Never asks the network (debuginfod). For one thread at a time.
class LibdwSymbolizer : public Symbolizer {
 public:
  static std::unique_ptr<LibdwSymbolizer> make();

  /// Makes `module` known. A second file for the same module replaces the first, with all its answers.
  void add_module(ModuleId module, ModuleFile file);

  /// As the interface says; empty also for a module that was never added.
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  /// As the interface says; kNone also for a module that was never added.
  SymbolSource source(ModuleId module) override;

 private:
  LibdwSymbolizer() = default;

  std::map<ModuleId, std::unique_ptr<ModuleSymbols>> modules_;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/study/confined_symbolizer.h"
#include "userspace/study/known_symbols.h"

namespace hawk {

/// The names of a heap that is read while its processes go on, or end: it holds the files. Code outside files has no
/// names. Made on one thread, used on another one.
class HeapSymbolizer : public Symbolizer {
 public:
  /// A module of the heap, and its file.
  using Files = std::vector<std::pair<ModuleId, ModuleFile>>;

  /// `known`: what is known by all such symbolizers, which are used one after the other, and on one thread.
  HeapSymbolizer(std::shared_ptr<KnownSymbols> known, Files files)
      : known_(std::move(known)), files_(std::move(files)), symbolizer_(*known_) {}

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override {
    return ready().frames(module, module_offset);
  }
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override {
    ready().prepare(module, module_offsets);
  }
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override {
    return ready().frames_in_no_file(address);
  }
  void prepare_in_no_file(std::span<const std::uint64_t> addresses) override { ready().prepare_in_no_file(addresses); }
  SymbolSource source(ModuleId module) override { return ready().source(module); }
  std::string gap(ModuleId module) override { return ready().gap(module); }

 private:
  /// What is known is looked up by the thread that uses it.
  ConfinedSymbolizer& ready() {
    for (auto& [module, file] : std::exchange(files_, {})) symbolizer_.add_module(module, std::move(file));
    return symbolizer_;
  }

  std::shared_ptr<KnownSymbols> known_;
  Files files_;
  ConfinedSymbolizer symbolizer_;
};

}  // namespace hawk

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/module_symbols.h"
#include "symbolizer/symbolizer.h"
#include "userspace/study/known_symbols.h"
#include "userspace/study/symbol_messages.h"
#include "userspace/study/worker_supply.h"

namespace hawk {

/// Finds a file with debug information by build id (hexadecimal) if the file system has none. No descriptor: not
/// found.
using DebugFileFinder = std::function<UniqueFd(const std::string& build_id)>;

/// A Symbolizer that never reads a module's file itself. An unprivileged process (run_worker) does, which receives
/// descriptors; its answers are cached. If it crashes, hangs or exceeds its memory limit, only the names of the current
/// module are lost, and gap() says so; the next request starts another one. For one thread at a time.
class ConfinedSymbolizer : public Symbolizer {
 public:
  /// `program`: the program to start as the worker; by default this one.
  explicit ConfinedSymbolizer(std::string program = kThisProgram, WorkerLimits limits = {})
      : workers_(std::move(program), limits) {}
  /// Results about files are cached in `known`, which must live longer, and which others may use at other times.
  explicit ConfinedSymbolizer(KnownSymbols& known, std::string program = kThisProgram, WorkerLimits limits = {})
      : workers_(std::move(program), limits), known_(&known) {}

  /// Makes `module` known. A second file for the same module replaces the first, with all its answers.
  void add_module(ModuleId module, ModuleFile file);
  /// Closes the files of `module` permanently: names that have not been looked up by now remain unknown.
  void close_files(ModuleId module);
  /// From now on debug files that are not in .build-id are searched by `finder`. The worker waits for it.
  void find_debug_files_with(DebugFileFinder finder) { finder_ = std::move(finder); }
  /// From now on code outside files gets its names from this perf map. It is read on demand.
  void use_perf_map(UniqueFd file);
  /// More has been written to it.
  void perf_map_grew();

  /// Starts the worker, if there is none. It ends with the thread that has started it.
  void start() { workers_.get(); }
  /// Uses this worker, if there is none: it has read files for others, and no question of theirs is open. If it is lost
  /// on a module, another is started for that module. nullptr: none.
  void start_with(std::unique_ptr<WorkerProcess> worker) { workers_.adopt(std::move(worker)); }
  /// Gives the worker away, as its owner will not be asked any more; nullptr: there is none.
  std::unique_ptr<WorkerProcess> release_worker() { return workers_.release(); }
  /// Ends the worker until it is needed: its answers are kept.
  void rest() { workers_.end(); }
  /// Has the symbols of `modules` read by the current worker. May run on another thread; until it has returned, only
  /// use_perf_map() and perf_map_grew() may be called.
  void read(std::span<const ModuleId> modules);

  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  void prepare(ModuleId module, std::span<const std::uint64_t> module_offsets) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override;
  void prepare_in_no_file(std::span<const std::uint64_t> addresses) override;
  SymbolSource source(ModuleId module) override;
  std::string gap(ModuleId module) override;

 private:
  using Addresses = std::span<const std::uint64_t>;

  struct Module {
    ModuleFile file;
    std::uint32_t known_to = 0;  ///< the number of the worker that has it; 0: none
    bool is_closed = false;      ///< it is not looked up any more
    std::string gap = {};        ///< the reason; empty: see its symbols
    std::shared_ptr<FileSymbols> symbols = std::make_shared<FileSymbols>();
  };

  void ask(ModuleId id, Module& module, Addresses module_offsets);
  bool is_settled(ModuleId id, Module& module, Addresses module_offsets);
  bool is_answered(ModuleId id, Module& module, Addresses module_offsets);
  void ask_in_no_file(Addresses addresses);
  bool is_answered_in_no_file(Addresses addresses);
  bool introduce_perf_map();
  bool introduce(ModuleId id, Module& module);
  bool take_answer(Module& module, Addresses asked);
  bool take_message(Module& module, const Message& message, Addresses& asked);
  bool open_file(const Module& module, const std::string& body);
  bool keep_frames(Module& module, const std::string& body, Addresses& asked);
  bool lose_adopted();
  void lose(Module& module);

  WorkerSupply workers_;
  DebugFileFinder finder_;            ///< may be empty
  Module in_no_file_ = {.file = {}};  ///< its file is the perf map, if there is one
  bool has_perf_map_grown_ = false;   ///< since the worker has heard of it
  std::map<ModuleId, Module> modules_;
  std::size_t names_bytes_ = 0;  ///< of all names that were received
  KnownSymbols* known_ = nullptr;
};

}  // namespace hawk

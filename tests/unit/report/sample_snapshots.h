#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/location_table.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Answers from a table written by hand.
class FakeSymbolizer : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId module, std::uint64_t module_offset) override;
  std::vector<SourceFrame> frames_in_no_file(std::uint64_t address) override;
  SymbolSource source(ModuleId module) override;

  void know_in_no_file(std::uint64_t address, SourceFrame frame) { in_no_file_[address] = std::move(frame); }
  void know(ModuleId module, std::uint64_t module_offset, std::vector<SourceFrame> frames);
  void set_source(ModuleId module, SymbolSource source) { sources_[module] = source; }
  /// How often frames() was called: what a report looked at.
  std::size_t lookups() const { return lookups_; }

 private:
  std::map<std::pair<ModuleId, std::uint64_t>, std::vector<SourceFrame>> known_;
  std::map<std::uint64_t, SourceFrame> in_no_file_;
  std::map<ModuleId, SymbolSource> sources_;
  std::size_t lookups_ = 0;
};

/// A snapshot and the names in it. Keeps the invariants of Snapshot: totals follow the stacks.
struct Sample {
  Snapshot snapshot;
  FakeSymbolizer symbolizer;

  ModuleId add_module(std::string path, std::string build_id);
  /// A frame at a new address of `module`, of which the symbolizer knows `sources`.
  Location call(ModuleId module, std::vector<SourceFrame> sources);
  /// As call(), of code in no file, of which the symbolizer knows `source`.
  Location call_in_no_file(SourceFrame source);
  /// The reference lasts until the next stack is added.
  StackRecord& add_stack(std::uint32_t id, const Counters& counters, const std::vector<Location>& frames);

  StackRecord& stack(std::uint32_t id);

 private:
  LocationTable locations_;
  std::uint64_t next_offset_ = 0x1200;
};

SourceFrame function(std::string name, std::string file = {}, std::uint32_t line = 0);
SourceFrame inlined(std::string name, std::string file = {}, std::uint32_t line = 0);

/// Stands in for the symbolizer room's catalogue.
FrameRole sample_role_of(const std::string& function);

Sample empty_sample();          ///< a process that allocated nothing
Sample service_sample();        ///< a typical C++ service: a leak, a cache, churn
Sample later_service_sample();  ///< the same service 2 seconds later, with one more stack
Sample unsymbolized_sample();   ///< a library without symbols, one with some, code in no file
Sample lossy_sample();          ///< truncated, stacks not recorded, several causes of loss, exec, exited, not verified
Sample deep_sample();           ///< deep inlining and recursion
Sample hostile_sample();        ///< names that are no UTF-8, that command a terminal, that are wide
Sample huge_sample();           ///< numbers at the end of their range
Sample several_sample();        ///< three processes of that service, one of them not exact and ended
Sample unwinding_sample();      ///< stacks of every quality, a signal handler that allocates

}  // namespace hawk

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"

namespace hawk {

/// The parts that heap profiles of gperftools and of jemalloc have in common. Both are text of addresses, and have room
/// for the names of these before the stacks: with those, readers need none of the files that were mapped.
class SymbolizedHeapText {
 public:
  /// What the addresses of a stack are, but for the first one.
  enum class Callers {
    kAsNamed,    ///< those that the names are of
    kOneBehind,  ///< one more: the reader looks for the name of the byte before
  };
  SymbolizedHeapText(const ExportedStacks& stacks, PieceWriter& out, Callers callers)
      : stacks_(stacks), out_(out), callers_(callers) {}

  /// The names of all addresses. False: no more is wanted.
  bool put_symbols();
  /// " 0x1234 0x5678": the addresses of a stack, from the caller of the allocator outwards.
  void put_addresses(const StackRecord& record);
  /// Where which file was mapped.
  void put_mappings();

 private:
  void put_symbol(std::uint64_t address, const std::string& names);
  std::uint64_t address_of(LocationId id) const;
  std::uint64_t placeholder_address(const ListedFrame& placeholder) const;

  const ExportedStacks& stacks_;
  PieceWriter& out_;
  const Callers callers_;
};

}  // namespace hawk

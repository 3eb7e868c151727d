#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/code/branch_targets.h"

namespace hawk {

/// What calls of a file's functions may lead to. Remembers the answers. Not thread-safe.
class CallEffects {
 public:
  /// `is_probed`: whether a function of the allocator begins at an address. `mappings_count`: to map memory is to
  /// allocate.
  CallEffects(BranchTargets& resolver, std::function<bool(std::uint64_t)> is_probed, bool mappings_count);

  /// Whether a call of it is certain never to return: all paths through it end in the like. `first_argument`: a
  /// constant that it is called with; with one glibc asks functions to abort the program.
  bool never_returns(const CodeTarget& target, std::optional<std::uint32_t> first_argument = std::nullopt);
  /// The same, and that none of these paths throws: they end in abort or the like.
  bool ends_program(const CodeTarget& target, std::optional<std::uint32_t> first_argument = std::nullopt);
  /// Whether it might call a function of the allocator, or code that is not known.
  bool may_allocate(const CodeTarget& target);
  /// Whether it might be left by an exception, or calls code that is not known.
  bool may_throw(const CodeTarget& target);

 private:
  /// What one function does, those that it calls left aside.
  struct Facts {
    bool is_known = false;              ///< all of it could be followed, and none of it calls what is not known
    bool may_throw = false;             ///< it calls, or continues in, what is left by an exception alone
    std::vector<CodeTarget> continued;  ///< functions of this file that it calls or continues in, and which return
  };
  /// What is done with the instructions of a function.
  struct Look;
  class Follower;

  /// Whether something that `matters`, or code that is not known, is the target or might be called by it, directly or
  /// not; what `matters_not` is not looked into.
  bool any_called(const CodeTarget& target, const std::function<bool(const CodeTarget&)>& matters_not,
                  const std::function<bool(const CodeTarget&)>& matters);
  /// Whether it is one of libc's that are known, by name, to allocate nothing and to call nothing of the program's.
  bool allocates_nothing(const CodeTarget& target);
  /// Functions with one of some names.
  struct NamedFunctions {
    std::span<const std::string_view> names;        ///< sorted
    std::optional<std::set<std::uint64_t>> vaddrs;  ///< of those in this file; looked for when first needed
  };
  bool is_one_of(const CodeTarget& target, NamedFunctions& functions);
  /// How calls of a function may be left.
  struct Exits {
    bool by_return = true;
    bool by_throw = true;  ///< said only of those that never return
  };
  Exits exits_of(const CodeTarget& target, std::optional<std::uint32_t> first_argument);
  Exits exits_of(std::uint64_t vaddr, std::optional<std::uint32_t> first_argument);
  const Facts& facts_of(std::uint64_t vaddr);
  /// Follows all paths from `vaddr`; false: not all of them could be, or `look` has seen enough.
  bool follow(std::uint64_t vaddr, std::optional<std::uint32_t> first_argument, const Look& look);

  BranchTargets& resolver_;
  std::function<bool(std::uint64_t)> is_probed_;
  std::map<std::pair<std::uint64_t, std::optional<std::uint32_t>>, Exits> exits_;
  std::map<std::uint64_t, Facts> facts_;
  NamedFunctions allocating_nothing_;
  NamedFunctions mapping_;
  bool mappings_count_;
  std::size_t instructions_left_;
  int depth_ = 0;
};

}  // namespace hawk

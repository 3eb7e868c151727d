#pragma once

#include <algorithm>
#include <iterator>
#include <list>
#include <memory>
#include <utility>
#include <vector>

namespace hawk {

/// What is kept for the next user when the last one has gone, until its room is needed: then the least recently used
/// is given up first. To have a Use is to be a user.
template <class Thing>
class KeptThings {
 public:
  using Use = std::shared_ptr<const Thing>;

  Use add(Thing thing) { return things_.emplace_back(std::make_shared<const Thing>(std::move(thing))); }

  /// The one that `is_it` says; it counts as used now. nullptr: there is none.
  template <class IsIt>
  Use find(IsIt is_it) {
    const auto found = std::find_if(things_.begin(), things_.end(), [&](const Use& use) { return is_it(*use); });
    if (found == things_.end()) return nullptr;
    things_.splice(things_.end(), things_, found);
    return *found;
  }

  /// Those that have no user, the least recently used first.
  std::vector<Use> unused() const {
    std::vector<Use> found;
    std::copy_if(things_.begin(), things_.end(), std::back_inserter(found),
                 [](const Use& use) { return use.use_count() == 1; });
    return found;
  }

  void forget(const Use& forgotten) { std::erase(things_, forgotten); }

 private:
  std::list<Use> things_;  ///< the least recently used first
};

}  // namespace hawk

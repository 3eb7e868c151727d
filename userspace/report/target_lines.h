#pragma once

#include <cstddef>
#include <string>

#include "userspace/report/styled_line.h"
#include "userspace/report/text_page.h"
#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The lines of several processes: their names, and whether the numbers of each are exact.
class TargetDescriptions {
 public:
  /// `snapshot`, which is of several, must outlive this.
  explicit TargetDescriptions(const Snapshot& snapshot);

  /// The properties that all of them share, which add() omits: "all run /usr/sbin/nginx, in
  /// /system.slice/nginx.service". Empty: nothing.
  std::string common_text() const;
  /// Appends "shop (pid 42): exact", with notes on its numbers, its executable and its cgroup.
  void add(StyledLine& line, std::size_t target, NumberStyle style) const;

 private:
  const Snapshot& snapshot_;
  const bool same_exe_;
  const bool same_cgroup_;
};

/// Puts a line for each of several processes: what it holds, its name, and whether its numbers are exact. They are
/// sorted like the report; after the first ten the others are summed up.
void put_target_lines(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk

#pragma once

#include <cstddef>
#include <string>

#include "userspace/report/styled_line.h"
#include "userspace/report/text_page.h"
#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Who several processes are, and what the numbers of each are worth.
class TargetDescriptions {
 public:
  /// `snapshot`, which is of several, must outlive this.
  explicit TargetDescriptions(const Snapshot& snapshot);

  /// What all of them have in common, and add() leaves out: "all run /usr/sbin/nginx, in /system.slice/nginx.service".
  /// Empty: nothing.
  std::string common_text() const;
  /// Appends "shop (pid 42): exact", with what is to be said of its numbers, its executable and its cgroup.
  void add(StyledLine& line, std::size_t target, NumberStyle style) const;

 private:
  const Snapshot& snapshot_;
  const bool same_exe_;
  const bool same_cgroup_;
};

/// Puts a line for each of several processes: what it holds, who it is, and what its numbers are worth. Those come
/// first that have most of what the report is sorted by; behind the first ten the others are summed up.
void put_target_lines(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk

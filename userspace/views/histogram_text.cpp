#include "userspace/views/histogram_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "userspace/report/display_text.h"
#include "userspace/report/lives_text.h"
#include "userspace/report/number_columns.h"
#include "userspace/report/styled_line.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

void put_classes(TextPage& page, const char* title, const char* column, std::span<const std::uint64_t> classes,
                 const std::function<std::string(std::size_t)>& text) {
  std::vector<std::size_t> used;
  std::uint64_t sum = 0;
  for (std::size_t number = 0; number < classes.size(); ++number) {
    sum += classes[number];
    if (classes[number] != 0) used.push_back(number);
  }
  if (used.empty()) return;
  page.put(title, Style::kStrong);
  NumberColumns columns(used.size());
  columns.add({.title = "BLOCKS", .keep = 2}, [&](std::size_t row) { return page.count(classes[used[row]]); });
  columns.add({.title = "SHARE", .keep = 1}, [&](std::size_t row) { return format_share(classes[used[row]], sum); });
  StyledLine titles;
  columns.add_titles(titles);
  page.put(titles.add(column, Style::kDim));
  for (std::size_t row = 0; row < used.size(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    page.put(line.add(text(used[row])));
  }
  page.put("");
}

}  // namespace

void put_histograms(TextPage& page, const Snapshot& snapshot) {
  if (!snapshot.lives) return;
  BlockHistograms all;
  for (const StackLives& lives : *snapshot.lives) all += lives;
  put_classes(page, "sizes of allocated blocks", "BYTES", all.sizes,
              [&](std::size_t number) { return size_class_text(page, number); });
  put_classes(page, "lifetimes of freed blocks", "TIME", all.lifetimes, lifetime_class_text);
  if (all.temporary != 0) {
    page.put_wrapped(
        fmt::format("{} temporary: freed within the interval in which they were allocated, or before the thread's "
                    "next allocation",
                    page.blocks(all.temporary)),
        2);
  }
  if (all.freed_by_others != 0) {
    page.put_wrapped(fmt::format("{} freed by another thread than the one that had allocated them",
                                 page.blocks(all.freed_by_others)),
                     2);
  }
  page.end_section();
}

}  // namespace hawk

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/screen/event.h"
#include "userspace/screen/sort.h"

namespace hawk {

/// What the screen shows below the totals.
enum class Page { kList, kStack, kProcesses, kHelp };

/// Where things are on the screen as last drawn: what keys that scroll and clicks refer to.
struct ScreenLayout {
  struct Title {
    std::size_t first_column = 0;
    std::size_t end_column = 0;
    ScreenSort sort = ScreenSort::kLive;
  };
  std::optional<std::size_t> title_row;  ///< nullopt: none is shown
  std::vector<Title> titles;
  std::size_t first_row = 0;     ///< of the list or the page
  std::size_t visible_rows = 0;  ///< of it
  std::size_t all_rows = 0;      ///< of it, shown or not
};

/// What the program is to do after an event.
enum class Reaction { kNone, kQuit, kToggleMouse, kMark };

/// What the user has asked the screen for. Changes by events only; what it shows is made from it and from a snapshot.
struct ViewState {
  Page page = Page::kList;
  ScreenSort sort = ScreenSort::kLive;
  bool paused = false;
  bool raw_bytes = false;
  bool all_frames = false;  ///< the stack's page shows the frames that are folded elsewhere
  bool editing_filter = false;
  std::string filter;          ///< as typed so far
  std::size_t selected = 0;    ///< rank in the list of the stack with the cursor
  std::size_t first = 0;       ///< rank in the list of the first stack on the screen
  std::size_t page_first = 0;  ///< the first line of the page on the screen

  /// Whether the list keeps its order: while the user looks at something else than its top, what is under the cursor
  /// must not move away.
  bool held() const { return selected != 0 || first != 0 || page == Page::kStack; }
  /// Back to the top of the list, which is sorted anew from now on.
  void go_to_top();
};

/// Lets `state` follow what the user did on a screen that looked like `layout`.
Reaction take_event(ViewState& state, const ScreenEvent& event, const ScreenLayout& layout);

}  // namespace hawk

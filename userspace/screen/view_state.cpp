#include "userspace/screen/view_state.h"

#include <algorithm>

namespace hawk {
namespace {

constexpr std::size_t kWheelRows = 3;

void remove_last_character(std::string& text) {
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80) text.pop_back();
  if (!text.empty()) text.pop_back();
}

/// Moves `rank` by `rows`, and not over the ends of `count` rows.
std::size_t moved(std::size_t rank, std::ptrdiff_t rows, std::size_t count) {
  if (count == 0) return 0;
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(count) - 1;
  return static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(rank) + rows, std::ptrdiff_t{0}, last));
}

/// By how many rows a key moves the cursor or the page; nullopt for other keys.
std::optional<std::ptrdiff_t> rows_of(Key key, const ScreenLayout& layout) {
  const std::ptrdiff_t page = std::max<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(layout.visible_rows));
  const std::ptrdiff_t all = static_cast<std::ptrdiff_t>(layout.all_rows);
  switch (key) {
    case Key::kUp:
      return -1;
    case Key::kDown:
      return 1;
    case Key::kPageUp:
      return -page;
    case Key::kPageDown:
      return page;
    case Key::kHome:
      return -all;
    case Key::kEnd:
      return all;
    case Key::kWheelUp:
      return -static_cast<std::ptrdiff_t>(kWheelRows);
    case Key::kWheelDown:
      return static_cast<std::ptrdiff_t>(kWheelRows);
    default:
      return std::nullopt;
  }
}

class EventTaker {
 public:
  EventTaker(ViewState& state, const ScreenLayout& layout) : state_(state), layout_(layout) {}

  Reaction take(const ScreenEvent& event) {
    if (state_.editing_filter) {
      edit_filter(event);
      return Reaction::kNone;
    }
    if (event.key == Key::kText) return take_text(event);
    if (state_.page == Page::kList) {
      on_list(event);
    } else {
      on_page(event);
    }
    return Reaction::kNone;
  }

 private:
  void edit_filter(const ScreenEvent& event) {
    if (event.key == Key::kText) state_.filter += event.text;
    if (event.key == Key::kBackspace) remove_last_character(state_.filter);
    if (event.key == Key::kEscape) state_.filter.clear();
    if (event.key == Key::kEscape || event.key == Key::kEnter) state_.editing_filter = false;
    state_.go_to_top();
  }

  void sort_by(ScreenSort sort) {
    state_.sort = sort;
    state_.page = Page::kList;
    state_.go_to_top();
  }

  Reaction take_text(const ScreenEvent& event) {
    const char key = event.text.size() == 1 ? event.text[0] : '\0';
    switch (key) {
      case 'q':
        return Reaction::kQuit;
      case 'm':
        return Reaction::kMark;
      case 'M':
        return Reaction::kToggleMouse;
      case 'p':
      case ' ':
        state_.paused = !state_.paused;
        break;
      case 'b':
        state_.raw_bytes = !state_.raw_bytes;
        break;
      case '?':
      case 'h':
        go_to_page(state_.page == Page::kHelp ? Page::kList : Page::kHelp);
        break;
      case 'P':
        go_to_page(state_.page == Page::kProcesses ? Page::kList : Page::kProcesses);
        break;
      case '/':
        state_.page = Page::kList;
        state_.editing_filter = true;
        break;
      case 's':
      case '>':
        sort_by(next_sort(state_.sort));
        break;
      case 'S':
      case '<':
        sort_by(previous_sort(state_.sort));
        break;
      case 'F':
        state_.all_frames = !state_.all_frames;
        break;
      default:
        if (const std::optional<ScreenSort> sort = sort_by_key(key)) sort_by(*sort);
        break;
    }
    return Reaction::kNone;
  }

  void on_page(const ScreenEvent& event) {
    if (const std::optional<std::ptrdiff_t> rows = rows_of(event.key, layout_)) {
      const std::size_t scrollable = layout_.all_rows - std::min(layout_.all_rows, layout_.visible_rows) + 1;
      state_.page_first = moved(state_.page_first, *rows, scrollable);
    } else if (event.key == Key::kEscape || event.key == Key::kLeft || event.key == Key::kEnter ||
               event.key == Key::kBackspace) {
      state_.page = Page::kList;
    }
  }

  void on_list(const ScreenEvent& event) {
    if (const std::optional<std::ptrdiff_t> rows = rows_of(event.key, layout_)) {
      move_cursor(moved(state_.selected, *rows, layout_.all_rows));
    } else if (event.key == Key::kEnter || event.key == Key::kRight) {
      open_stack();
    } else if (event.key == Key::kEscape) {
      if (state_.selected == 0) state_.filter.clear();
      state_.go_to_top();
    } else if (event.key == Key::kClick) {
      click(event);
    }
  }

  void go_to_page(Page page) {
    state_.page = page;
    state_.page_first = 0;
  }

  void move_cursor(std::size_t rank) {
    state_.selected = rank;
    if (rank == 0) state_.go_to_top();
  }

  void open_stack() {
    if (layout_.all_rows != 0) go_to_page(Page::kStack);
  }

  void click(const ScreenEvent& event) {
    if (layout_.title_row && event.row == *layout_.title_row) {
      for (const ScreenLayout::Title& title : layout_.titles) {
        if (event.column >= title.first_column && event.column < title.end_column) return sort_by(title.sort);
      }
      return;
    }
    if (event.row < layout_.first_row || event.row >= layout_.first_row + layout_.visible_rows) return;
    const std::size_t rank = state_.first + event.row - layout_.first_row;
    if (rank >= layout_.all_rows) return;
    if (rank == state_.selected) return open_stack();
    state_.selected = rank;
  }

  ViewState& state_;
  const ScreenLayout& layout_;
};

}  // namespace

void ViewState::go_to_top() {
  selected = 0;
  first = 0;
}

Reaction take_event(ViewState& state, const ScreenEvent& event, const ScreenLayout& layout) {
  return EventTaker(state, layout).take(event);
}

}  // namespace hawk

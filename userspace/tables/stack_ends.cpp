#include "userspace/tables/stack_ends.h"

#include <array>
#include <cstddef>

#include "userspace/base/check.h"

namespace hawk {
namespace {

constexpr std::array<EndText, HAWK_END_COUNT> kTexts = {{
#define HAWK_END_TEXT(symbol, name, text) {name, text},
    HAWK_ENDS(HAWK_END_TEXT)
#undef HAWK_END_TEXT
}};

}  // namespace

const EndText& end_text(hawk_end end) {
  const std::size_t index = static_cast<std::size_t>(end);
  HAWK_CHECK(index < kTexts.size(), "a walk's end without a text");
  return kTexts[index];
}

std::string_view quality_name(enum hawk_stack_quality quality) {
  switch (quality) {
    case HAWK_STACK_COMPLETE:
      return "complete";
    case HAWK_STACK_GUESSED:
      return "guessed";
    case HAWK_STACK_TRUNCATED:
      return "truncated";
  }
  HAWK_CHECK(false, "a stack's quality without a name");
}

}  // namespace hawk

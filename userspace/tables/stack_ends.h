#pragma once

#include <string_view>

#include "bpf/unwind/ends.h"

namespace hawk {

/// Name of an end in JSON and what the walk met there, for people: follows a colon.
struct EndText {
  std::string_view json_name;
  std::string_view sentence;
};

/// The text of `end`, which must be one of the enumeration's.
const EndText& end_text(hawk_end end);

/// "complete", "guessed" or "truncated", in JSON and in text.
std::string_view quality_name(enum hawk_stack_quality quality);

}  // namespace hawk

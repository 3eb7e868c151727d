#include "userspace/attach/trace_config.h"

namespace hawk {

std::string_view unwind_method_name(UnwindMethod method) {
  switch (method) {
    case UnwindMethod::kCfi:
      return "cfi";
    case UnwindMethod::kFramePointers:
      return "fp";
    case UnwindMethod::kAuto:
      break;
  }
  return "auto";
}

}  // namespace hawk

#include "userspace/commands/folded_functions.h"

#include <memory>

#include "symbolizer/frame_role.h"
#include "userspace/base/check.h"
#include "userspace/base/regular_expression.h"
#include "userspace/report/short_name.h"

namespace hawk {

RoleOfFunction folded_functions(const std::optional<std::string>& hide) {
  if (!hide) return frame_role;
  const auto expression = std::make_shared<const RegularExpression>(*hide);
  HAWK_CHECK(expression->is_valid(), "a pattern that was not checked");
  return [expression](const std::string& function) {
    const FrameRole role = frame_role(function);
    if (role != FrameRole::kProgram) return role;
    return expression->matches(short_name(function)) ? FrameRole::kLibrary : role;
  };
}

}  // namespace hawk

#include "userspace/process/process_fields.h"

namespace hawk {

std::string_view status_field(std::string_view status, std::string_view name) {
  while (!status.empty()) {
    std::string_view line = status.substr(0, status.find('\n'));
    status.remove_prefix(std::min(line.size() + 1, status.size()));
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return line;
  }
  return {};
}

std::string_view stat_from_field(std::string_view stat, int field) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  stat.remove_prefix(name_end + 1);
  for (int at = 3;; ++at) {
    stat.remove_prefix(std::min(stat.find_first_not_of(' '), stat.size()));
    if (at == field) return stat;
    stat.remove_prefix(std::min(stat.find(' '), stat.size()));
  }
}

}  // namespace hawk

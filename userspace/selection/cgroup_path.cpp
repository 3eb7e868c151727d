#include "userspace/selection/cgroup_path.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hawk {
namespace {

/// The shortest id that is taken for one: what managers use has 32 or 64 digits.
constexpr std::size_t kIdDigits = 32;

/// Takes the first component off `rest`, and the slashes around it; empty: there is none.
std::string_view take_component(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
  const std::string_view component = rest.substr(0, rest.find('/'));
  rest.remove_prefix(component.size());
  return component;
}

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// cg_unescape of systemd.
std::string_view unit_of(std::string_view component) {
  if (component.starts_with('_')) component.remove_prefix(1);
  return component;
}

/// "1000" of "user@1000.service"; empty: it is no manager of a user.
std::string_view manager_uid(std::string_view unit) {
  constexpr std::string_view kBefore = "user@";
  constexpr std::string_view kAfter = ".service";
  if (!unit.starts_with(kBefore) || !unit.ends_with(kAfter) || unit.size() <= kBefore.size() + kAfter.size()) return {};
  return unit.substr(kBefore.size(), unit.size() - kBefore.size() - kAfter.size());
}

/// Calls `use(unit, path up to and with it, uid)` for each unit that `path` was made for.
template <class Use>
void for_each_unit(std::string_view path, Use use) {
  std::string_view rest = path;
  std::string_view uid;
  for (std::string_view component; !(component = take_component(rest)).empty();) {
    // The kernel shows a path outside hawktrace's own cgroup namespace like this.
    if (component == "..") continue;
    const std::string_view unit = unit_of(component);
    use(unit, path.substr(0, path.size() - rest.size()), uid);
    if (unit.ends_with(".slice")) continue;
    // A user's manager has units of its own below its service; no other cgroups are units.
    if (!uid.empty() || (uid = manager_uid(unit)).empty()) return;
  }
}

/// "a\x2db" as "a-b": how systemd writes what may not stand in the name of a unit.
std::string unescape_unit(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string plain;
  for (; !text.empty(); text.remove_prefix(1)) {
    if (text.size() >= 4 && text.starts_with("\\x") && is_hex_digit(text[2]) && is_hex_digit(text[3])) {
      plain += static_cast<char>(digit(text[2]) * 16 + digit(text[3]));
      text.remove_prefix(3);
    } else {
      plain += text.front();
    }
  }
  return plain;
}

/// "docker-0123...ef.scope", "crio-0123...ef", or the id alone.
std::optional<Container> container_by_id(std::string_view component) {
  if (component.ends_with(".scope")) component.remove_suffix(6);
  const auto behind = std::find_if_not(component.rbegin(), component.rend(), is_hex_digit);
  const std::size_t digits = static_cast<std::size_t>(behind - component.rbegin());
  if (digits < kIdDigits) return std::nullopt;
  std::string_view manager = component.substr(0, component.size() - digits);
  if (!manager.empty() && !manager.ends_with('-')) return std::nullopt;
  if (!manager.empty()) manager.remove_suffix(1);
  if (manager.ends_with("conmon")) return std::nullopt;
  return Container{std::string(component.substr(component.size() - digits)), true, std::string(manager)};
}

/// Between a prefix and a suffix; empty: it is not so.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  if (!text.starts_with(before) || !text.ends_with(after) || text.size() <= before.size() + after.size()) return {};
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

/// Of managers that call containers by names. `parent`: the component before.
std::optional<Container> container_by_name(std::string_view parent, std::string_view component) {
  constexpr std::array<std::array<std::string_view, 3>, 3> kUnits = {{
      {"machine-", ".scope", "systemd-nspawn"},
      {"systemd-nspawn@", ".service", "systemd-nspawn"},
      {"lxc.payload.", "", "lxc"},
  }};
  if (parent == "lxc" || parent == "lxc.payload") return Container{std::string(component), false, "lxc"};
  for (const auto& [before, after, manager] : kUnits) {
    const std::string_view name = between(component, before, after);
    if (!name.empty()) return Container{unescape_unit(name), false, std::string(manager)};
  }
  return std::nullopt;
}

}  // namespace

bool is_within(std::string_view path, std::string_view ancestor) {
  while (ancestor.ends_with('/')) ancestor.remove_suffix(1);
  return path.starts_with(ancestor) && (path.size() == ancestor.size() || path[ancestor.size()] == '/');
}

std::optional<UnitCgroup> find_unit(std::string_view path, std::string_view name) {
  std::optional<UnitCgroup> found;
  for_each_unit(path, [&](std::string_view unit, std::string_view cgroup, std::string_view uid) {
    if (unit != name || found) return;
    found = UnitCgroup{std::string(cgroup), uid.empty() ? std::nullopt : std::optional(std::string(uid))};
  });
  return found;
}

/// Backslashes are part of names.
bool is_in_unit_like(std::string_view path, const std::string& pattern) {
  bool found = false;
  for_each_unit(path, [&](std::string_view unit, std::string_view, std::string_view) {
    found |= ::fnmatch(pattern.c_str(), std::string(unit).c_str(), FNM_NOESCAPE) == 0;
  });
  return found;
}

std::vector<std::string> instances_of(std::string_view path, std::string_view name) {
  std::vector<std::string> instances;
  const std::size_t at = name.find("@.");
  if (at == std::string_view::npos) return instances;
  for_each_unit(path, [&](std::string_view unit, std::string_view, std::string_view) {
    if (!between(unit, name.substr(0, at + 1), name.substr(at + 1)).empty()) instances.emplace_back(unit);
  });
  return instances;
}

std::string complete_unit_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> kTypes = {".service", ".scope", ".slice", ".socket", ".mount", ".swap"};
  const bool has_type =
      std::any_of(kTypes.begin(), kTypes.end(), [name](std::string_view type) { return name.ends_with(type); });
  return fmt::format("{}{}", name, has_type ? "" : ".service");
}

std::vector<Container> containers_of(std::string_view path) {
  std::vector<Container> containers;
  std::string_view parent;
  for (std::string_view component; !(component = take_component(path)).empty(); parent = component) {
    std::optional<Container> container = container_by_id(component);
    if (container && container->manager.empty() && (parent == "docker" || parent == "podman")) {
      container->manager = parent;
    }
    if (!container) container = container_by_name(parent, component);
    const bool is_again = container && !containers.empty() && containers.back().name == container->name;
    if (container && !is_again) containers.push_back(std::move(*container));
  }
  return containers;
}

}  // namespace hawk

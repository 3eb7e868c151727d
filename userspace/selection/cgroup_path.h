#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hawk {

/// Whether `path` is `ancestor` or lies below it.
bool is_within(std::string_view path, std::string_view ancestor);

/// A unit that a cgroup belongs to.
struct UnitCgroup {
  std::string cgroup;              ///< of the unit: a prefix of what was asked about
  std::optional<std::string> uid;  ///< of the user whose manager runs it; nullopt: the system's does
  bool operator==(const UnitCgroup&) const = default;
};

/// The unit `name` among those that systemd has made the cgroup `path` for, if it is one: that of the system's manager
/// or, below user@UID.service, of a user's. What lies below any other unit is that unit's own, and no unit of this
/// systemd, as where a container runs a systemd of its own. systemd puts an underscore before names that would be taken
/// for files of the kernel.
std::optional<UnitCgroup> find_unit(std::string_view path, std::string_view name);

/// Whether it is one of the units whose names match the pattern, of the system or of a user: "worker@*.service".
bool is_in_unit_like(std::string_view path, const std::string& pattern);

/// The same where only the template is named ("getty@.service"): all units of it, by their names.
std::vector<std::string> instances_of(std::string_view path, std::string_view name);

/// "nginx" is "nginx.service"; what ends with a type that has processes stays as it is.
std::string complete_unit_name(std::string_view name);

/// A container that a cgroup belongs to.
struct Container {
  std::string name;     ///< its id, or a name that its manager gave (lxc, systemd-nspawn)
  bool is_id = false;   ///< which may be cut short
  std::string manager;  ///< "docker", "cri-containerd", "lxc"; empty: not known
  bool operator==(const Container&) const = default;
};

/// Those that contain `path`, from the outermost inwards; helper processes of the managers (conmon) are in none.
std::vector<Container> containers_of(std::string_view path);

}  // namespace hawk

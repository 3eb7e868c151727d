#include "userspace/report/interpreter_hint.h"

#include <charconv>
#include <string_view>

#include "userspace/report/frame_list.h"

namespace hawk {
namespace {

/// Of "python3.12" and "libpython3.12.so.1.0": 12. 0 of other files.
unsigned python_minor_version(std::string_view file) {
  constexpr std::string_view kName = "python3.";
  if (file.starts_with("lib")) file.remove_prefix(3);
  if (!file.starts_with(kName)) return 0;
  file.remove_prefix(kName.size());
  unsigned minor = 0;
  std::from_chars(file.data(), file.data() + file.size(), minor);
  return minor;
}

}  // namespace

std::string interpreter_hint(const Snapshot& snapshot) {
  constexpr unsigned kFirstPythonWithPerfMaps = 12;
  for (const Module& module : snapshot.modules) {
    const std::string file = file_name(module.path);
    if (python_minor_version(file) >= kFirstPythonWithPerfMaps) {
      return "hint: to name Python functions, use python3 -X perf, or PYTHONPERFSUPPORT=1 in its environment";
    }
    if (file == "node" || file == "nodejs") {
      return "hint: to name JavaScript functions, use node --perf-basic-prof --interpreted-frames-native-stack";
    }
  }
  return {};
}

}  // namespace hawk

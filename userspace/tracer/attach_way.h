#pragma once

#include <optional>
#include <string_view>

namespace hawk {

/// How probes are attached.
enum class AttachWay {
  kPoints,   ///< inside the functions, where their code shows all of a call; the best of the others for the rest
  kSession,  ///< uprobe sessions, Linux 6.13 and later: entry and return are one program
  kMulti,    ///< uprobe multi links, 6.6 and later
  kPerf,     ///< one perf event per probe
};

/// "points", "session", "multi", "perf"; nullopt for any other text.
std::optional<AttachWay> parse_attach_way(std::string_view text);
std::string_view attach_way_name(AttachWay way);

}  // namespace hawk

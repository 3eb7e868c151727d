#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

namespace hawk {

/// The three answers that any target may be given. What a target is given must not change unseen: each has one.
enum class Verdict {
  kExact,     ///< the report says "exact", and its totals are those that the target has written down
  kNotExact,  ///< the report says "not exact" and counts the cause
  kRefused,   ///< exit code 3 or 4, an error with the reason, and a hint
  kEither,    ///< exact or not exact, by what was hit; the rule holds for whichever it is
};

/// How hawktrace attaches.
enum class Road { kAuto, kSession, kMulti, kPerf };
inline constexpr Road kAutoRoad[] = {Road::kAuto};
inline constexpr Road kAllRoads[] = {Road::kAuto, Road::kSession, Road::kMulti, Road::kPerf};
inline constexpr Road kReturnRoads[] = {Road::kSession, Road::kMulti, Road::kPerf};
std::string road_name(Road road);

/// A hostile program and what hawktrace has to say of it.
struct HostileTarget {
  std::string name;  ///< of the test, and of its program where no other is given
  Verdict verdict = Verdict::kExact;
  std::string cause = {};  ///< of what is not exact: the counter's name in the JSON; of a refusal: words of its error
  std::vector<std::string> arguments = {};
  std::string program = {};                             ///< in targets/, or a path
  std::map<std::string, std::string> environment = {};  ///< of the target
  std::vector<std::string> options = {};                ///< of hawktrace
  bool has_own_libc = false;                            ///< see with_own_libc
  bool from_start = false;                              ///< `hawktrace -- PROGRAM` instead of `-p PID`
  bool varies = false;                                  ///< its ledger differs from run to run
  std::span<const Road> roads = {kAutoRoad};
};

/// Runs the target alone, then traced, and applies the one rule: hawktrace ends in time and with a documented status;
/// the target's words, ledger and end are those of the run alone; and the report is right, or not exact and says why,
/// or the target is refused with a reason.
void judge(const HostileTarget& target, Road road);

}  // namespace hawk

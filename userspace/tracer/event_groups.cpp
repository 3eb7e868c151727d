#include "userspace/tracer/event_groups.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>

#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

/// Followed by the numbers of the maker, and by one that counts its groups.
constexpr std::string_view kGroup = "hawktrace_";
constexpr int kStartTime = 22;  // the field of /proc/PID/stat, proc(5)

/// The namespace of that kind that a process is in; nullopt: not known.
std::optional<std::uint64_t> namespace_of(std::string_view process, std::string_view kind) {
  struct stat status = {};
  if (::stat(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), &status) != 0) return std::nullopt;
  return status.st_ino;
}

std::optional<std::uint64_t> start_time_of(std::string_view process) {
  const Result<std::string> stat = read_whole_file(fmt::format("/proc/{}/stat", process));
  return stat ? leading_number<std::uint64_t>(stat_from_field(*stat, kStartTime)) : std::nullopt;
}

/// Whether /proc is that of our pid namespace: not where only the namespace has been replaced.
bool proc_has_our_numbers(int own_pid) {
  const Result<std::string> status = read_whole_file("/proc/self/stat");
  return status && leading_number<int>(*status) == own_pid;
}

/// Whether a process that lives began at another time than the maker. Times of another time namespace are shifted: the
/// maker read its own in the one it is in.
bool is_another(const EventMaker& maker) {
  const std::string process = std::to_string(maker.pid);
  const std::optional<std::uint64_t> start_time = start_time_of(process);
  return start_time && *start_time != maker.start_time && namespace_of(process, "time") == namespace_of("self", "time");
}

/// The number that `text` begins with and `end`, both of which it loses; nullopt: it does not begin so.
template <class Number>
std::optional<Number> take_number(std::string_view& text, char end) {
  Number number = 0;
  const std::from_chars_result parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr == text.data() + text.size() || *parsed.ptr != end) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(parsed.ptr - text.data()) + 1);
  return number;
}

}  // namespace

EventMaker this_maker() {
  return {.pid_namespace = namespace_of("self", "pid").value_or(0),
          .pid = ::getpid(),
          .start_time = start_time_of("self").value_or(0)};
}

std::string group_name(const EventMaker& maker, unsigned number) {
  return fmt::format("{}{}_{}_{}_{}", kGroup, maker.pid_namespace, maker.pid, maker.start_time, number);
}

std::optional<EventMaker> maker_of(std::string_view event) {
  if (!event.starts_with(kGroup)) return std::nullopt;
  event.remove_prefix(kGroup.size());
  const auto pid_namespace = take_number<std::uint64_t>(event, '_');
  const auto pid = take_number<int>(event, '_');
  const auto start_time = take_number<std::uint64_t>(event, '_');
  const auto number = take_number<unsigned>(event, '/');
  if (!pid_namespace || !pid || *pid <= 0 || !start_time || !number) return std::nullopt;
  return EventMaker{.pid_namespace = *pid_namespace, .pid = *pid, .start_time = *start_time};
}

bool has_ended(const EventMaker& maker, const EventMaker& self) {
  if (maker.pid_namespace == 0 || maker.pid_namespace != self.pid_namespace || maker == self) return false;
  // Not asked of /proc, which may be another namespace's, or hide processes.
  if (::kill(maker.pid, 0) != 0) return errno == ESRCH;
  return proc_has_our_numbers(self.pid) && is_another(maker);
}

}  // namespace hawk

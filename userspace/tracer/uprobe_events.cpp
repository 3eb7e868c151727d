#include "userspace/tracer/uprobe_events.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <linux/magic.h>
#include <linux/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/process_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/tracer/event_groups.h"

namespace hawk {
namespace {

constexpr const char* kDefinitions = "uprobe_events";

bool is_tracefs(const UniqueFd& root) {
  struct statfs file_system = {};
  return root && ::fstatfs(root.get(), &file_system) == 0 && file_system.f_type == TRACEFS_MAGIC;
}

/// Where it usually is.
UniqueFd open_mounted_tracefs() {
  UniqueFd root(::open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!is_tracefs(root)) root = UniqueFd(::open("/sys/kernel/debug/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC));
  return is_tracefs(root) ? std::move(root) : UniqueFd();
}

/// tracefs, whether or not it is mounted where it usually is, or where we see it. A service may have no right to mount
/// it, and yet to write to what is mounted.
Result<UniqueFd> open_tracefs() {
  const UniqueFd context(static_cast<int>(::syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC)));
  UniqueFd root;
  if (context && ::syscall(SYS_fsconfig, context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0)
    root = UniqueFd(static_cast<int>(::syscall(SYS_fsmount, context.get(), FSMOUNT_CLOEXEC, 0)));
  if (root) return root;
  const int error = errno;
  if (UniqueFd mounted = open_mounted_tracefs()) return mounted;
  return system_failure(ExitCode::kPrivilege, "open tracefs, to follow child processes", error,
                        "the kernel needs CONFIG_UPROBE_EVENTS; leave --follow out to trace only the process");
}

/// One line of the definitions' file. Returns errno, 0: it is done.
int write_definition(int tracefs, const std::string& line) {
  const UniqueFd file(::openat(tracefs, kDefinitions, O_WRONLY | O_APPEND | O_CLOEXEC));
  return file ? write_all(file.get(), line) : errno;
}

/// "p:GROUP/NAME PATH:OFFSET" -> GROUP/NAME; empty: it is no such line.
std::string_view event_of(std::string_view line) {
  if (line.size() < 2 || line[1] != ':') return {};
  return line.substr(2, line.find(' ') - 2);
}

bool is_orphaned(std::string_view event, const EventMaker& self) {
  const std::optional<EventMaker> maker = maker_of(event);
  return maker && has_ended(*maker, self);
}

/// Whether processes that were killed have left any. By the groups' directories: the definitions cannot be read while
/// other tracers add and remove some, which takes 20 ms, and seconds where many of them end.
bool may_have_orphans(int tracefs, const EventMaker& self) {
  const auto close = [](DIR* directory) { ::closedir(directory); };
  UniqueFd events(::openat(tracefs, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, decltype(close)> groups(events ? ::fdopendir(events.get()) : nullptr, close);
  if (!groups) return true;
  events.release();
  while (const dirent* const group = ::readdir(groups.get())) {
    if (is_orphaned(fmt::format("{}/", group->d_name), self)) return true;
  }
  return false;
}

/// What processes that were killed have left.
void remove_orphans(int tracefs, const EventMaker& self) {
  if (!may_have_orphans(tracefs, self)) return;
  const UniqueFd file(::openat(tracefs, kDefinitions, O_RDONLY | O_CLOEXEC));
  const std::optional<std::string> text = file ? read_to_end(file.get()) : std::nullopt;
  if (!text) return;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view event = event_of(line);
    if (is_orphaned(event, self)) write_definition(tracefs, fmt::format("-:{}\n", event));
  }
}

}  // namespace

void remove_orphaned_events() {
  const Result<UniqueFd> tracefs = open_tracefs();
  if (tracefs) remove_orphans(tracefs->get(), this_maker());
}

Result<UprobeEvents> UprobeEvents::make() {
  static std::atomic<unsigned> groups{0};
  UniqueFd tracefs = HAWK_TRY(open_tracefs());
  const EventMaker self = this_maker();
  remove_orphans(tracefs.get(), self);
  return UprobeEvents(std::move(tracefs), group_name(self, groups++));
}

UprobeEvents::UprobeEvents(UprobeEvents&& other) noexcept
    : tracefs_(std::move(other.tracefs_)),
      group_(std::move(other.group_)),
      count_(other.count_),
      events_(std::exchange(other.events_, {})) {}

UprobeEvents& UprobeEvents::operator=(UprobeEvents&& other) noexcept {
  std::swap(tracefs_, other.tracefs_);
  std::swap(group_, other.group_);
  std::swap(count_, other.count_);
  std::swap(events_, other.events_);
  return *this;
}

UprobeEvents::~UprobeEvents() { remove_all(); }

bool UprobeEvents::remove_named(std::size_t number) noexcept {
  const int error = write_definition(tracefs_.get(), fmt::format("-:{}/e{}\n", group_, number));
  if (error != 0) log_verbose(fmt::format("remove the uprobe event {}/e{}: errno {}", group_, number, error));
  return error == 0;
}

void UprobeEvents::remove(std::uint64_t id) noexcept {
  std::erase_if(events_, [&](const auto& event) { return event.second == id && remove_named(event.first); });
}

void UprobeEvents::remove_all() noexcept {
  for (const auto& [number, id] : std::exchange(events_, {})) remove_named(number);
}

Result<std::uint64_t> UprobeEvents::add(int fd, std::span<const std::uint64_t> file_offsets, bool on_return) {
  const std::size_t number = count_++;
  const std::string name = fmt::format("e{}", number);
  // The first line defines it, each further one adds an instruction. It is there, to be removed, from the first one on.
  for (const std::uint64_t offset : file_offsets) {
    const int error = write_definition(tracefs_.get(), fmt::format("{}:{}/{} /proc/self/fd/{}:{:#x}\n",
                                                                   on_return ? 'r' : 'p', group_, name, fd, offset));
    if (error != 0)
      return system_failure(ExitCode::kPrivilege, fmt::format("define a uprobe event at offset {:#x}", offset), error);
    events_[number] = 0;
  }
  const UniqueFd file(
      ::openat(tracefs_.get(), fmt::format("events/{}/{}/id", group_, name).c_str(), O_RDONLY | O_CLOEXEC));
  const std::optional<std::string> text = file ? read_to_end(file.get()) : std::nullopt;
  std::uint64_t id = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), id);
  if (id == 0)
    return system_failure(ExitCode::kPrivilege, fmt::format("read the number of the uprobe event {}/{}", group_, name),
                          errno);
  events_[number] = id;
  return id;
}

}  // namespace hawk

#include "userspace/process/mappings.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "userspace/base/process_file.h"
#include "userspace/base/system_failure.h"
#include "userspace/process/numbered_entries.h"
#include "userspace/process/thread_ids.h"

namespace hawk {
namespace {

/// Takes text from the front of a line, one field after the other.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : rest_(line) {}

  /// A number that is followed by `separator`, which is taken as well, or by the end of the line.
  std::optional<std::uint64_t> number(int base, char separator) {
    std::uint64_t value = 0;
    const char* end = rest_.data() + rest_.size();
    const std::from_chars_result parsed = std::from_chars(rest_.data(), end, value, base);
    if (parsed.ec != std::errc() || (parsed.ptr != end && *parsed.ptr != separator)) return std::nullopt;
    const std::size_t length = static_cast<std::size_t>(parsed.ptr - rest_.data());
    rest_.remove_prefix(std::min(length + 1, rest_.size()));
    return value;
  }

  /// "r-xp " and the like.
  std::optional<std::string_view> permissions() {
    if (rest_.size() < 5 || rest_[4] != ' ') return std::nullopt;
    const std::string_view found = rest_.substr(0, 4);
    rest_.remove_prefix(5);
    return found;
  }

  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The kernel writes a newline in a path as \012 and leaves every other character alone.
std::string unescaped(std::string_view path) {
  constexpr std::string_view kNewline = "\\012";
  std::string plain(path);
  for (std::size_t at = plain.find(kNewline); at != std::string::npos; at = plain.find(kNewline, at + 1)) {
    plain.replace(at, kNewline.size(), "\n");
  }
  return plain;
}

void set_path(Mapping& mapping, std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  path.remove_prefix(std::min(path.find_first_not_of(' '), path.size()));
  if (mapping.inode != 0 && path.ends_with(kDeleted)) {
    mapping.deleted = true;
    path.remove_suffix(kDeleted.size());
  }
  mapping.path = unescaped(path);
}

/// "7f0000000000-7f0000001000 r-xp 00001000 fe:01 1234      /usr/lib/x.so"; without a path the line ends after the
/// inode, with or without a blank.
std::optional<Mapping> parse_line(std::string_view line) {
  LineReader reader(line);
  const std::optional<std::uint64_t> start = reader.number(16, '-');
  if (!start) return std::nullopt;
  const std::optional<std::uint64_t> end = reader.number(16, ' ');
  if (!end || *end <= *start) return std::nullopt;
  const std::optional<std::string_view> permissions = reader.permissions();
  if (!permissions) return std::nullopt;
  const std::optional<std::uint64_t> file_offset = reader.number(16, ' ');
  if (!file_offset) return std::nullopt;
  const std::optional<std::uint64_t> device_major = reader.number(16, ':');
  if (!device_major) return std::nullopt;
  const std::optional<std::uint64_t> device_minor = reader.number(16, ' ');
  if (!device_minor) return std::nullopt;
  const std::optional<std::uint64_t> inode = reader.number(10, ' ');
  if (!inode) return std::nullopt;
  Mapping mapping;
  mapping.start = *start;
  mapping.end = *end;
  mapping.file_offset = *file_offset;
  mapping.device = *device_major << 32 | *device_minor;
  mapping.inode = *inode;
  mapping.executable = (*permissions)[2] == 'x';
  mapping.shared = (*permissions)[3] == 's';
  set_path(mapping, reader.rest());
  return mapping;
}

/// The text of a list of mappings; "": there is no memory any more. A list is read a page at a time, and where the
/// memory goes in between it ends early, as if it were whole (m_start in fs/proc/task_mmu.c): 290 of 300 processes with
/// 2,000 mappings that ended while they were read in a loop. So it counts only if there is still memory afterwards.
Result<std::string> read_maps(const std::string& path) {
  const UniqueFd fd = open_process_file(path);
  if (!fd) return system_failure(ExitCode::kNoTarget, fmt::format("open {}", path), errno);
  std::optional<std::string> text = read_to_end(fd.get());
  if (!text) return system_failure(ExitCode::kNoTarget, fmt::format("read {}", path), errno);
  char first = 0;
  if (TEMP_FAILURE_RETRY(::pread(fd.get(), &first, 1, 0)) != 1) return std::string();
  return std::move(*text);
}

/// A main thread that has exited has no memory any more; the other threads still show the process's.
std::string maps_of_another_thread(int pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  for (const int tid : thread_ids(directory)) {
    Result<std::string> text = read_maps(fmt::format("{}/task/{}/maps", directory, tid));
    if (text && !text->empty()) return *text;
  }
  return {};
}

/// Returns when no thread of the process is in the middle of a change that it had begun before: their files are listed
/// with the lock over the mappings (proc_map_files_readdir in fs/proc/base.c).
void await_change_of_mappings(int pid) { numbered_entries(open_process_file(fmt::format("/proc/{}/map_files", pid))); }

}  // namespace

std::vector<Mapping> parse_mappings(std::string_view maps_text) {
  std::vector<Mapping> mappings;
  while (!maps_text.empty()) {
    const std::size_t length = std::min(maps_text.find('\n'), maps_text.size());
    std::optional<Mapping> mapping = parse_line(maps_text.substr(0, length));
    maps_text.remove_prefix(std::min(length + 1, maps_text.size()));
    if (!mapping) continue;
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

Result<std::vector<Mapping>> read_mappings(int pid) {
  std::string text = HAWK_TRY(read_maps(fmt::format("/proc/{}/maps", pid)));
  if (text.empty()) text = maps_of_another_thread(pid);
  if (text.empty()) {
    return fail(ExitCode::kNoTarget, fmt::format("read /proc/{}/maps: the process has exited", pid));
  }
  return parse_mappings(text);
}

Result<std::vector<Mapping>> read_mappings_with(int pid,
                                                const std::function<bool(const std::vector<Mapping>&)>& has_all) {
  constexpr int kTries = 5;
  Result<std::vector<Mapping>> mappings = read_mappings(pid);
  for (int i = 1; i < kTries && mappings && !has_all(*mappings); ++i) {
    await_change_of_mappings(pid);
    Result<std::vector<Mapping>> next = read_mappings(pid);
    const bool is_settled = next && *next == *mappings;
    mappings = std::move(next);
    if (is_settled) break;
  }
  return mappings;
}

}  // namespace hawk

#include "userspace/daemon/journal.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "userspace/base/log.h"
#include "userspace/base/printable.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

constexpr const char* kSocket = "/run/systemd/journal/socket";

void add_field(std::string& bytes, std::string_view name, const std::string& value) {
  if (value.find('\n') == std::string::npos) {
    bytes += fmt::format("{}={}\n", name, value);
    return;
  }
  bytes += fmt::format("{}\n", name);
  for (std::uint64_t i = 0, size = value.size(); i < sizeof(size); ++i) {
    bytes += static_cast<char>(size >> (i * 8));  // little endian
  }
  bytes += fmt::format("{}\n", value);
}

std::string printable_lines(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += printable_unicode(text.substr(0, end));
    text.remove_prefix(end);
    if (!text.empty()) {
      lines += '\n';
      text.remove_prefix(1);
    }
  }
  return lines;
}

}  // namespace

std::string journal_bytes(const JournalEntry& entry) {
  std::string bytes;
  add_field(bytes, "MESSAGE", printable_lines(entry.message));
  add_field(bytes, "PRIORITY", std::to_string(static_cast<int>(entry.priority)));
  add_field(bytes, "SYSLOG_IDENTIFIER", "hawktrace");
  for (const auto& [name, value] : entry.fields) add_field(bytes, name, printable_unicode(value));
  return bytes;
}

Journal Journal::of_stderr() {
  Journal journal;
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status = {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return journal;
  if (fmt::format("{}:{}", status.st_dev, status.st_ino) != stream) return journal;
  journal.socket_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return journal;
}

void Journal::write(const JournalEntry& entry) const {
  const std::optional<UnixAddress> journald = UnixAddress::of(kSocket);
  const std::string bytes = journal_bytes(entry);
  if (socket_ && journald &&
      ::sendto(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT, journald->get(),
               journald->length()) >= 0) {
    return;
  }
  std::string_view rest = entry.message;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (entry.priority == JournalPriority::kWarning) {
      log_warning(line);
    } else {
      log_info(line);
    }
  }
}

}  // namespace hawk

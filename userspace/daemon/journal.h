#pragma once

#include <string>
#include <utility>
#include <vector>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// How much an entry matters, as syslog(3) has it.
enum class JournalPriority { kWarning = 4, kInfo = 6 };

/// An entry of the journal of systemd: fields beside its message can be searched for (journalctl HAWKTRACE_TARGET=web).
struct JournalEntry {
  JournalPriority priority = JournalPriority::kInfo;
  std::string message;                                           ///< lines
  std::vector<std::pair<std::string, std::string>> fields = {};  ///< names of A-Z and _
};

/// The entry as the journal takes it: "NAME=VALUE\n", and where a value has a newline its length in front of it. The
/// control characters of values are replaced, but for the newlines of the message.
std::string journal_bytes(const JournalEntry& entry);

/// Writes entries to the journal if our stderr goes there, and otherwise to stderr, without the fields.
class Journal {
 public:
  /// By JOURNAL_STREAM, which says which stream the journal has.
  static Journal of_stderr();
  void write(const JournalEntry& entry) const;

 private:
  UniqueFd socket_;
};

}  // namespace hawk

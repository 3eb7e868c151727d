#include "userspace/traces/recording_name.h"

#include <algorithm>

namespace hawk {
namespace {

std::string without_slashes(std::string text) {
  std::replace(text.begin(), text.end(), '/', '!');
  return text;
}

}  // namespace

std::string recording_name(std::string_view pattern, const RecordingSubject& subject) {
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at] == '%' && at + 1 < pattern.size() ? pattern[at + 1] : '\0';
    ++at;
    if (letter == 'h') {
      name += without_slashes(subject.host);
    } else if (letter == 'e') {
      name += without_slashes(subject.comm);
    } else if (letter == 'p') {
      name += std::to_string(subject.pid);
    } else if (letter == 't') {
      name += std::to_string(subject.unix_seconds);
    } else if (letter == '%') {
      name += '%';
    } else {
      name += pattern[--at];
    }
  }
  return name;
}

}  // namespace hawk

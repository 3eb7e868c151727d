#include "userspace/tracer/libbpf_messages.h"

#include <bpf/libbpf.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include "userspace/base/log.h"

namespace hawk {
namespace {

int print(const char* format, va_list arguments) {
  constexpr std::size_t kShown = 8192;  // of a longer message, the verifier's log, the end has the reason
  va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  std::string text(static_cast<std::size_t>(std::max(length, 0)) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  std::string_view lines = text;
  lines.remove_prefix(lines.size() - std::min(lines.size(), kShown));
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end != 0) log_verbose(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return length;
}

int print_libbpf(libbpf_print_level level, const char* format, va_list arguments) {
  if (level == LIBBPF_DEBUG || verbosity() != Verbosity::kVerbose) return 0;
  try {
    return print(format, arguments);
  } catch (const std::bad_alloc&) {  // libbpf is written in C
    return 0;
  }
}

}  // namespace

void show_libbpf_messages() { libbpf_set_print(print_libbpf); }

}  // namespace hawk

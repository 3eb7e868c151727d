// Stands for a worker that a file has made do something else than its work: what, is the path of the module that it is
// asked about, or stands in the file that it is to read.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/study/file_orders.h"
#include "userspace/study/channel.h"
#include "userspace/study/file_messages.h"
#include "userspace/study/symbol_messages.h"
#include "userspace/study/worker_process.h"

namespace hawk {
namespace {

void answer(Channel& channel, const FramesQuestion& question, const std::string& function) {
  std::vector<FramesAt> found;
  for (const std::uint64_t offset : question.module_offsets)
    found.push_back({offset, {{function, "file.c", 7, false}}});
  channel.send(kFrames, to_body(found));
  channel.send(kModuleState, to_body(ModuleState{SymbolSource::kDebugInfo, ""}));
}

/// The file that it is given is one whose name the module's path has behind the colon.
std::string ask_for(Channel& channel, const std::string& root, const std::string& path) {
  channel.send(kOpenFile, to_body(FileWanted{root, path}));
  const std::optional<Message> message = channel.receive();
  return message && message->fd ? "was given it" : "was not given it";
}

/// What no answer follows.
void end_or_hang(std::string_view order) {
  if (order == "crashes") {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  if (order == "is_stopped") {
    std::signal(SIGSYS, SIG_DFL);
    std::raise(SIGSYS);
  }
  if (order == "ends") std::_Exit(EXIT_SUCCESS);
  if (order == "works_for_ever") {
    for (volatile bool goes_on = true; goes_on;) continue;
  }
  if (order == "waits_for_ever") {
    while (true) ::pause();
  }
}

/// Answers that say nothing, or no end of names.
void answer_without_end(Channel& channel, std::string_view order, const FramesQuestion& question) {
  constexpr timespec kMoment = {.tv_sec = 0, .tv_nsec = 300'000'000};
  const std::string nothing = to_body(std::vector<FramesAt>{});
  if (order == "talks_for_ever") {
    while (channel.send(kFrames, nothing)) continue;
  }
  if (order == "talks_now_and_then") {
    while (channel.send(kFrames, nothing)) ::nanosleep(&kMoment, nullptr);
  }
  if (order == "wants_files_for_ever") {
    while (channel.send(kOpenFile, to_body(FileWanted{"", "/nowhere"})) && channel.receive()) continue;
  }
  if (order == "gives_long_names") {
    constexpr std::size_t kNameBytes = 60'000;
    for (const std::uint64_t offset : question.module_offsets) {
      const std::string name = std::to_string(offset) + std::string(kNameBytes, 'x');
      channel.send(kFrames, to_body(std::vector<FramesAt>{{offset, {{name, "", 0, false}}}}));
    }
  }
}

void misbehave(Channel& channel, const std::string& path, const FramesQuestion& question) {
  end_or_hang(std::string_view(path).substr(1));
  if (path == "/answers_nonsense") channel.send(kFrames, "nonsense");
  if (path == "/answers_something_else") channel.send(kAddModule, "");
  if (path == "/answers_what_was_not_asked")
    channel.send(kFrames, to_body(std::vector<FramesAt>{{question.module_offsets.at(0) + 1, {{"x", "", 0, false}}}}));
  if (path == "/nests_without_end")
    channel.send(kFrames,
                 to_body(std::vector<FramesAt>{{question.module_offsets.at(0), std::vector<SourceFrame>(100'000)}}));
  answer_without_end(channel, std::string_view(path).substr(1), question);
  if (path == "/breaks_off") {
    channel.send(kFrames, to_body(std::vector<FramesAt>{{question.module_offsets.at(0), {{"known", "", 0, false}}}}));
    std::raise(SIGKILL);
  }
  const std::size_t colon = path.find(':');
  if (colon == std::string::npos) return answer(channel, question, "of " + path);
  const bool is_elsewhere = path.starts_with("/wants_elsewhere");
  answer(channel, question, ask_for(channel, is_elsewhere ? "/proc/1/root" : "", path.substr(colon + 1)));
}

/// An allocator function that is to be probed there.
FileCode code_with_probe(std::uint64_t probe_offset) {
  FileCode code;
  AllocatorFunction& function = code.allocator.functions.emplace_back();
  function.names = {"malloc"};
  function.kind = HAWK_CALL_MALLOC;
  function.entry_offset = kCodeAt;
  function.probe_offset = probe_offset;
  function.instruction = "push";
  return code;
}

void send_rows(Channel& channel, const std::vector<hawk_row>& rows) {
  channel.send(kTableRows, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(hawk_row)});
}

/// A table of these rows, and of none but the reserved rules.
void send_table(Channel& channel, const std::vector<hawk_row>& rows) {
  channel.send(kTableHead, to_body(TableHead{.table = {}, .row_count = rows.size()}));
  if (!rows.empty()) send_rows(channel, rows);
}

const std::vector<hawk_row> kRows = {{.offset = 0, .rule = HAWK_RULE_UNSUPPORTED},
                                     {.offset = 16, .rule = HAWK_RULE_GAP}};

void misbehave_with_code(Channel& channel, std::string_view order) {
  if (order == "probes_elsewhere") channel.send(kFileCode, to_body(code_with_probe(kCodeAt + kCodeBytes)));
  if (order == "answers_nonsense") channel.send(kFileCode, "nonsense");
  if (order == "code_without_end") {
    while (channel.send(kFileCode, to_body(code_with_probe(kCodeAt)))) continue;
  }
  channel.send(kFileCode, to_body(code_with_probe(kCodeAt)));
}

void misbehave_with_table(Channel& channel, std::string_view order) {
  if (order == "crashes_in_table") std::raise(SIGKILL);
  if (order == "unsorted_rows") return send_table(channel, {kRows[1], kRows[0]});
  if (order == "unknown_rule") return send_table(channel, {{.offset = 0, .rule = HAWK_FIRST_RULE}});
  if (order == "too_many_rows") channel.send(kTableHead, to_body(TableHead{.table = {}, .row_count = ~0ull}));
  send_table(channel, kRows);
  if (order == "rows_without_end") {
    while (channel.send(kTableRows, {reinterpret_cast<const char*>(kRows.data()), sizeof(hawk_row)})) continue;
  }
  if (order == "missing_rows") channel.send(kTableHead, to_body(TableHead{.table = {}, .row_count = 2}));
}

void read_file(Channel& channel, const Message& message) {
  FileWants wants;
  char text[kLongestOrder + 1] = {};
  if (!from_body(message.body, wants) || ::pread(message.fd.get(), text, kLongestOrder, kOrderAt) < 0) return;
  const std::string_view order = text;
  end_or_hang(order);
  const bool is_silent = order == "says_nothing" || order == "gives_up";
  if (!is_silent && wants.code) misbehave_with_code(channel, order);
  if (!is_silent && wants.table) misbehave_with_table(channel, order);
  if (order == "something_else") channel.send(kFrames, "");
  channel.send(kFileRead, order == "speaks_in_colours" ? "\x1b[31m"
                          : order == "gives_up"        ? "no memory to read it"
                                                       : "");
}

/// What a perf map has in its beginning.
std::string order_in(const UniqueFd& perf_map) {
  char text[kLongestOrder + 1] = {};
  return ::pread(perf_map.get(), text, kLongestOrder, 0) > 0 ? text : "";
}

int run() {
  Channel channel{UniqueFd(kWorkerSocket)};
  std::string path;
  while (const std::optional<Message> message = channel.receive()) {
    if (message->kind == kReadFile) read_file(channel, *message);
    ModuleHead head;
    FramesQuestion question;
    if (message->kind == kAddModule && from_body(message->body, head)) path = head.path;
    if (message->kind == kPerfMap) path = "/" + order_in(message->fd);
    const bool is_about_frames = message->kind == kAskForFrames || message->kind == kAskInNoFile;
    if (is_about_frames && from_body(message->body, question)) misbehave(channel, path, question);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace hawk

int main() { return hawk::run(); }

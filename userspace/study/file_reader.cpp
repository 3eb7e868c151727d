#include "userspace/study/file_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "userspace/study/file_checks.h"
#include "userspace/study/file_messages.h"

namespace hawk {
namespace {

/// The number of requests that are sent ahead. Their descriptors are open in both processes.
constexpr std::size_t kMostAsked = 8;

}  // namespace

/// Ends a worker with pending requests, whose answers would be mistaken for those to others.
class FileReader::Unfinished {
 public:
  explicit Unfinished(FileReader& reader) : reader_(reader) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!is_finished_) reader_.workers_.end();
  }
  void finish() { is_finished_ = true; }

 private:
  FileReader& reader_;
  bool is_finished_ = false;
};

void FileReader::read(std::span<const FileQuestion> questions, const Use& use) {
  Unfinished unfinished(*this);
  std::size_t sent = 0;  // of those that are left
  for (std::size_t number = 0; number < questions.size(); ++number) {
    FileStudy study = read_first(questions.subspan(number), sent);
    sent -= std::min<std::size_t>(sent, 1);
    use(number, std::move(study));
  }
  unfinished.finish();
}

FileStudy FileReader::read(const FileQuestion& question) {
  FileStudy found;
  read(std::span(&question, 1), [&](std::size_t, FileStudy study) { found = std::move(study); });
  return found;
}

/// The answer to the first of `questions`, of which the first `sent` have been sent to the worker.
FileStudy FileReader::read_first(std::span<const FileQuestion> questions, std::size_t& sent) {
  for (;;) {
    FileStudy study;
    const std::uint32_t before = workers_.number();
    WorkerProcess* const worker = workers_.get();
    const bool is_new = workers_.number() != before;
    if (is_new) sent = 0;
    if (worker == nullptr) {
      study.gap = workers_.why_none();
      return study;
    }
    send_some(questions, sent);
    worker->begin_work();
    if (receive(questions.front(), study)) return study;
    const bool has_hung = worker->has_hung();
    study.table.reset();
    study.gap = workers_.lose();
    // The old worker may have ended for other reasons, or have been damaged by an earlier file.
    if (is_new || has_hung) return study;
  }
}

/// A worker that accepts no more requests is detected by its missing answer.
void FileReader::send_some(std::span<const FileQuestion> questions, std::size_t& sent) {
  for (; sent < std::min(questions.size(), kMostAsked); ++sent) {
    const FileQuestion& question = questions[sent];
    if (!workers_.current()->channel().send(kReadFile, to_body(question.wants), question.file->fd())) return;
  }
}

/// False: there will be no answer, or it is invalid.
bool FileReader::receive(const FileQuestion& question, FileStudy& study) {
  rows_expected_ = 0;
  WorkerProcess& worker = *workers_.current();
  for (;;) {
    const std::optional<Message> message = worker.receive();
    if (!message || !take_message(question, *message, study)) return false;
    if (message->kind != kFileRead) continue;
    const bool has_code = study.code || !question.wants.code, has_table = study.table || !question.wants.table;
    return rows_expected_ == 0 && (!study.gap.empty() || (has_code && has_table));
  }
}

bool FileReader::take_message(const FileQuestion& question, const Message& message, FileStudy& study) {
  FileCode code;
  TableHead head;
  switch (message.kind) {
    case kFileCode:
      if (!question.wants.code || !from_body(message.body, code) || !is_about(code, *question.file)) return false;
      study.code = std::move(code);
      return true;
    case kTableHead:
      if (!question.wants.table || study.table || !from_body(message.body, head)) return false;
      rows_expected_ = head.row_count;
      study.table = std::move(head.table);
      study.table->table.rows.reserve(rows_expected_);
      return true;
    case kTableRows:
      if (!study.table || message.body.size() / sizeof(hawk_row) > rows_expected_) return false;
      rows_expected_ -= message.body.size() / sizeof(hawk_row);
      return add_rows(message.body, *study.table);
    case kFileRead:
      study.gap = message.body;
      return is_plain_text(message.body);
    default:
      return false;
  }
}

}  // namespace hawk

#include "userspace/study/file_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "userspace/study/file_checks.h"
#include "userspace/study/file_messages.h"

namespace hawk {
namespace {

/// Questions that a worker has before it. Their descriptors are open in both processes.
constexpr std::size_t kMostAsked = 8;
/// So many may take too long, or fail in another way, before nobody is made to wait for another.
constexpr int kMostHungWorkers = 3;
constexpr int kMostLostWorkers = 32;

}  // namespace

/// Ends a worker that is left with questions: nobody would wait for the answers.
class FileReader::Unfinished {
 public:
  explicit Unfinished(FileReader& reader) : reader_(reader) {}
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;
  ~Unfinished() {
    if (!is_finished_) reader_.worker_.reset();
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

/// The answer to the first of `questions`, of which the worker has the first `sent` before it.
FileStudy FileReader::read_first(std::span<const FileQuestion> questions, std::size_t& sent) {
  for (;;) {
    FileStudy study;
    const bool is_new = worker_ == nullptr;
    if (!start_worker()) {
      study.gap = no_worker_;
      return study;
    }
    send_some(questions, sent);
    worker_->begin_work();
    if (receive(questions.front(), study)) return study;
    const bool has_hung = worker_->has_hung();
    study.table.reset();
    study.gap = lose();
    sent = 0;
    // Another may have ended for other reasons, or have been damaged by an earlier file.
    if (is_new || has_hung) return study;
  }
}

bool FileReader::start_worker() {
  if (worker_) return true;
  if (hung_workers_ >= kMostHungWorkers) no_worker_ = "reading other files took too long";
  if (lost_workers_ >= kMostLostWorkers) no_worker_ = "reading other files failed too often";
  if (hung_workers_ >= kMostHungWorkers || lost_workers_ >= kMostLostWorkers) return false;
  Result<std::unique_ptr<WorkerProcess>> started = WorkerProcess::start(program_, limits_);
  if (started) {
    worker_ = std::move(*started);
  } else {
    no_worker_ = started.error().what;
  }
  return worker_ != nullptr;
}

/// That the worker takes no more is found out when its answer does not come.
void FileReader::send_some(std::span<const FileQuestion> questions, std::size_t& sent) {
  for (; sent < std::min(questions.size(), kMostAsked); ++sent) {
    const FileQuestion& question = questions[sent];
    if (!worker_->channel().send(kReadFile, to_body(question.wants), question.file->fd())) return;
  }
}

/// False: there will be no answer, or it makes no sense.
bool FileReader::receive(const FileQuestion& question, FileStudy& study) {
  rows_expected_ = 0;
  for (;;) {
    const std::optional<Message> message = worker_->channel().receive([this] { return worker_->is_worth_waiting(); });
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

std::string FileReader::lose() {
  if (worker_->has_hung()) ++hung_workers_;
  ++lost_workers_;
  std::string how = worker_->end();
  worker_.reset();
  return how;
}

}  // namespace hawk

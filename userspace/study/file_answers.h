#pragma once

#include <cstddef>

#include "userspace/study/channel.h"
#include "userspace/study/file_messages.h"

namespace hawk {

/// The worker's side of FileReader: reads one file after the other, and keeps no state.
class FileAnswers {
 public:
  explicit FileAnswers(Channel& channel) : channel_(channel) {}

  /// Answers a kReadFile. False: it is invalid, or the answer could not be sent.
  bool take(Message message);

 private:
  bool read(UniqueFd fd, const FileWants& wants);
  bool send_table(FileTable table);

  Channel& channel_;
  std::size_t rows_sent_ = 0;  ///< of the last table
};

}  // namespace hawk

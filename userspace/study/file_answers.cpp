#include "userspace/study/file_answers.h"

#include <malloc.h>

#include <algorithm>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "userspace/study/file_contents.h"

namespace hawk {
namespace {

/// So many rows go into a message: 1 MiB.
constexpr std::size_t kRowsAtOnce = (std::size_t{1} << 20) / sizeof(hawk_row);
/// Memory for a table larger than this is released at once.
constexpr std::size_t kManyRows = std::size_t{1} << 19;

}  // namespace

bool FileAnswers::take(Message message) {
  FileWants wants;
  if (message.kind != kReadFile || !from_body(message.body, wants)) return false;
  rows_sent_ = 0;
  bool is_taken = false;
  try {
    is_taken = read(std::move(message.fd), wants);
  } catch (const std::bad_alloc&) {
    is_taken = channel_.send(kFileRead, "no memory to read it");
  }
  if (rows_sent_ > kManyRows) ::malloc_trim(0);
  return is_taken;
}

bool FileAnswers::read(UniqueFd fd, const FileWants& wants) {
  const Result<ElfImage> image = ElfImage::make(std::move(fd), "it");
  if (!image) return channel_.send(kFileRead, image.error().what);
  if (wants.code && !channel_.send_later(kFileCode, to_body(read_code(*image, wants.plans)))) return false;
  if (wants.table && !send_table(read_table(*image))) return false;
  return channel_.send(kFileRead, {});
}

bool FileAnswers::send_table(FileTable table) {
  const std::vector<hawk_row> rows = std::exchange(table.table.rows, {});
  if (!channel_.send_later(kTableHead, to_body(TableHead{std::move(table), rows.size()}))) return false;
  for (std::span<const hawk_row> left = rows; !left.empty();) {
    const std::span<const hawk_row> part = left.first(std::min(left.size(), kRowsAtOnce));
    if (!channel_.send_later(kTableRows, {reinterpret_cast<const char*>(part.data()), part.size_bytes()})) return false;
    left = left.subspan(part.size());
  }
  rows_sent_ = rows.size();
  return true;
}

}  // namespace hawk
